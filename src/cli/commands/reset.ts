import { applicationPlace, withApplicationOptions } from '../application-options.ts'
import { defineCommand } from '../command.ts'
import { resetTarget } from '../reset-target.ts'

/** Kafka Streams' application reset. */
export const resetCommand = defineCommand({
  usage: 'reset [files..]',
  summary: 'starts an application over: moves its offsets, deletes its internal topics and state',
  examples: [
    ['$0 reset app.yaml', 'shows what would happen'],
    ['$0 reset app.yaml --execute', 'reads all input again, from its beginning'],
    ['$0 reset app.yaml --to-datetime 2026-01-31T00:00:00Z --execute', 'reads again from that moment on'],
  ],
  options: yargs =>
    withApplicationOptions(yargs)
      .option('to-earliest', { type: 'boolean', describe: 'input is read from its beginning (this is the default)' })
      .option('to-latest', { type: 'boolean', describe: 'only new input is read' })
      .option('to-datetime', {
        type: 'string',
        describe: 'input is read from that moment on, such as 2026-01-31T00:00:00Z',
      })
      .option('to-offset', { type: 'string', describe: 'every input partition is read from that offset on' })
      .option('by-duration', { type: 'string', describe: 'input of the last 10m, 2h, 7d is read' })
      .option('execute', { type: 'boolean', default: false, describe: 'does it; without this nothing changes' }),
  run: async (options, io) => {
    const place = applicationPlace(options)
    const target = resetTarget(options)
    const { resetApplication } = await import('../reset-application.ts')
    return resetApplication(place, { target, execute: options.execute }, io)
  },
})
