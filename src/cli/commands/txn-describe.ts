import { defineCommand } from '../command.ts'
import { clusterPlace, withClusterOptions } from '../txn/cluster-place.ts'
import { withFormat } from '../txn/format-option.ts'

/** One transactional id. */
export const txnDescribeCommand = defineCommand({
  usage: 'describe <id> [files..]',
  summary: 'shows one transactional id: owner, beginning, timeout, and where it holds up readers',
  examples: [['$0 txn describe orders-host-1-1 app.yaml', 'through the connection of app.yaml']],
  options: yargs =>
    withFormat(
      withClusterOptions(yargs).positional('id', { type: 'string', demandOption: true, describe: 'transactional id' }),
    ),
  run: async (options, io) => {
    const place = clusterPlace(options)
    const { describeTransaction } = await import('../txn/describe-transaction.ts')
    return describeTransaction(place, options.id, options.format, io)
  },
})
