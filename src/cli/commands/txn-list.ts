import { defineCommand } from '../command.ts'
import { clusterPlace, withClusterOptions } from '../txn/cluster-place.ts'
import { withFormat } from '../txn/format-option.ts'

/** Transactional ids of all brokers. */
export const txnListCommand = defineCommand({
  usage: 'list [files..]',
  summary: 'lists transactional ids with state, age and owner',
  examples: [
    ['$0 txn list app.yaml', 'those of the application'],
    ['$0 txn list app.yaml --state Ongoing', 'those with an open transaction'],
    ['$0 txn list app.yaml --all', 'those of the whole cluster'],
    ['$0 txn list --bootstrap-server 127.0.0.1:9092 --prefix orders-', 'those that begin so'],
  ],
  options: yargs =>
    withFormat(withClusterOptions(yargs))
      .option('state', {
        type: 'string',
        array: true,
        nargs: 1,
        default: [] as string[],
        describe: 'only in this state, such as Ongoing, PrepareCommit, CompleteAbort, Empty',
      })
      .option('prefix', { type: 'string', describe: 'ids that begin so, instead of those of the application' })
      .option('all', { type: 'boolean', default: false, describe: 'those of other applications too' }),
  run: async (options, io) => {
    const place = clusterPlace(options)
    const { listTransactions } = await import('../txn/list-transactions.ts')
    const { state: states, prefix, all, format } = options
    return listTransactions(place, { states, prefix, all }, format, io)
  },
})
