import { defineCommand } from '../command.ts'
import { positiveInteger } from '../option-values.ts'

const GUARANTEES = ['exactly_once_v2', 'at_least_once'] as const

/** Kills an application again and again and checks every value it wrote. */
export const demoCommand = defineCommand({
  usage: 'demo',
  summary: 'kills an application again and again, and checks every value it wrote',
  examples: [
    ['$0 demo', 'on a local Kafka, which is started if none is given by KAFKA_BOOTSTRAP_SERVERS'],
    ['$0 demo --seed 7 --kills 8', 'another input, more kills'],
    ['$0 demo --guarantee at_least_once', 'shows what the checker finds without exactly-once'],
  ],
  options: yargs =>
    yargs
      .option('seed', {
        type: 'string',
        default: '1',
        coerce: positiveInteger('seed'),
        describe: 'decides input and moments',
      })
      .option('records', {
        type: 'string',
        default: '20000',
        coerce: positiveInteger('records'),
        describe: 'orders to process',
      })
      .option('kills', { type: 'string', default: '6', coerce: positiveInteger('kills'), describe: 'kills, at least' })
      .option('guarantee', {
        choices: GUARANTEES,
        default: 'exactly_once_v2' as const,
        describe: 'what the application promises',
      }),
  run: async (options, io) => {
    const { demonstrate } = await import('../demo/demonstrate.ts')
    return demonstrate(options, io)
  },
})
