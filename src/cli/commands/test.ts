import { applicationPlace, withApplicationOptions } from '../application-options.ts'
import { defineCommand } from '../command.ts'

/** Tests of a file. */
export const testCommand = defineCommand({
  usage: 'test [files..]',
  summary: 'runs the `tests:` of an application, without a broker',
  examples: [['$0 test app.yaml', 'shows what passed, and what differs']],
  options: withApplicationOptions,
  run: async (options, io) => {
    const place = applicationPlace(options)
    const { testApplication } = await import('../test-application.ts')
    return testApplication(place, io)
  },
})
