import { defineCommand } from '../command.ts'
import { durationOption, wholeNumber } from '../option-values.ts'
import { clusterPlace, withClusterOptions } from '../txn/cluster-place.ts'
import { withFormat } from '../txn/format-option.ts'
import { UsageError } from '../usage-error.ts'

/** What holds up readers. */
export const txnFindHangingCommand = defineCommand({
  usage: 'find-hanging [files..]',
  summary: 'finds transactions that no coordinator will end, and those that are open for long',
  examples: [
    ['$0 txn find-hanging app.yaml', 'on the topics of the application, and on the offsets of its group'],
    ['$0 txn find-hanging app.yaml --topic orders --partition 3', 'on one partition'],
    ['$0 txn find-hanging --bootstrap-server 127.0.0.1:9092 --max-age 1m', 'on all topics of a cluster'],
  ],
  options: yargs =>
    withFormat(withClusterOptions(yargs))
      .option('topic', { type: 'string', describe: 'only this topic' })
      .option('partition', { type: 'string', coerce: wholeNumber('partition'), describe: 'only this partition of it' })
      .option('max-age', {
        type: 'string',
        default: '15m',
        coerce: durationOption('max-age'),
        describe: 'shows those too that are open for longer, such as 30s, 5m, 1h',
      })
      .option('all', {
        type: 'boolean',
        default: false,
        describe: 'on all topics, not those of the application alone',
      }),
  run: async (options, io) => {
    const place = clusterPlace(options)
    const { topic, partition, all, maxAge, format } = options
    if (partition !== undefined && topic === undefined) throw new UsageError('--partition goes with --topic.')
    const { findHanging } = await import('../txn/find-hanging.ts')
    return findHanging(place, { topic, partition, all, maxAgeMs: maxAge }, format, io)
  },
})
