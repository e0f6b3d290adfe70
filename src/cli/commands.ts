import type { Command } from './command.ts'
import { checkCommand } from './commands/check.ts'
import { demoCommand } from './commands/demo.ts'
import { graphCommand } from './commands/graph.ts'
import { initCommand } from './commands/init.ts'
import { resetCommand } from './commands/reset.ts'
import { runCommand } from './commands/run.ts'
import { schemaCommand } from './commands/schema.ts'
import { testCommand } from './commands/test.ts'
import { topicsCommand } from './commands/topics.ts'
import { txnCommand } from './commands/txn.ts'
import { validateCommand } from './commands/validate.ts'
import { verifyCommand } from './commands/verify.ts'

/** Every command, in the order of `--help`. */
export const COMMANDS: readonly Command[] = [
  runCommand,
  validateCommand,
  checkCommand,
  graphCommand,
  testCommand,
  topicsCommand,
  resetCommand,
  verifyCommand,
  txnCommand,
  schemaCommand,
  initCommand,
  demoCommand,
]
