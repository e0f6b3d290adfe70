import type { Command } from '../command.ts'
import { txnAbortCommand } from './txn-abort.ts'
import { txnDescribeCommand } from './txn-describe.ts'
import { txnFindHangingCommand } from './txn-find-hanging.ts'
import { txnListCommand } from './txn-list.ts'

const COMMANDS = [txnListCommand, txnDescribeCommand, txnFindHangingCommand, txnAbortCommand]

/** Looks at the transactions of a cluster, and ends them. Kafka: `kafka-transactions.sh`. */
export const txnCommand: Command = (yargs, io, done) =>
  yargs.command('txn', 'shows the transactions of a cluster, finds those that hang, and ends them', argv => {
    argv.example('$0 txn list app.yaml', 'whose transactions are open, and for how long')
    argv.example('$0 txn find-hanging app.yaml', 'what holds up its readers')
    for (const command of COMMANDS) command(argv, io, done)
    return argv.demandCommand(1, 'Name what to do: list, describe, find-hanging or abort.')
  })
