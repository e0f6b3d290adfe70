import { defineCommand } from '../command.ts'
import { wholeNumber } from '../option-values.ts'
import type { AbortTarget } from '../txn/abort-transaction.ts'
import { clusterPlace, withClusterOptions } from '../txn/cluster-place.ts'
import { UsageError } from '../usage-error.ts'

/** Ends a transaction that nobody else will end. */
export const txnAbortCommand = defineCommand({
  usage: 'abort [files..]',
  summary: 'ends a transaction: that of an id, or one that hangs on a partition',
  examples: [
    ['$0 txn abort app.yaml --transactional-id orders-host-1-1', 'shows what it would end, and what follows'],
    ['$0 txn abort app.yaml --transactional-id orders-host-1-1 --execute', 'ends it, and fences its producer'],
    ['$0 txn abort app.yaml --topic orders --partition 3 --start-offset 4711 --execute', 'ends one that hangs'],
  ],
  options: yargs =>
    withClusterOptions(yargs)
      .option('transactional-id', { type: 'string', describe: 'whose open transaction' })
      .option('topic', { type: 'string', describe: 'where a transaction hangs' })
      .option('partition', { type: 'string', coerce: wholeNumber('partition'), describe: 'of the topic' })
      .option('start-offset', {
        type: 'string',
        coerce: wholeNumber('start-offset'),
        describe: 'of its first record, as find-hanging shows it',
      })
      .option('execute', { type: 'boolean', default: false, describe: 'does it; without this nothing changes' }),
  run: async (options, io) => {
    const place = clusterPlace(options)
    const target = targetOf(options)
    const { abortTransaction } = await import('../txn/abort-transaction.ts')
    return abortTransaction(place, target, { execute: options.execute }, io)
  },
})

function targetOf({
  transactionalId,
  topic,
  partition,
  startOffset,
}: {
  readonly transactionalId: string | undefined
  readonly topic: string | undefined
  readonly partition: number | undefined
  readonly startOffset: number | undefined
}): AbortTarget {
  const named = [topic, partition, startOffset].filter(part => part !== undefined).length
  if (transactionalId !== undefined && named === 0) return { transactionalId }
  if (transactionalId === undefined && topic !== undefined && partition !== undefined && startOffset !== undefined) {
    return { topicPartition: { topic, partition }, startOffset }
  }
  throw new UsageError('Name --transactional-id, or --topic, --partition and --start-offset.')
}
