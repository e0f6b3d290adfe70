#!/usr/bin/env node
import { checkCommand } from './commands/check.ts'
import { demoCommand } from './commands/demo.ts'
import { graphCommand } from './commands/graph.ts'
import { initCommand } from './commands/init.ts'
import { resetCommand } from './commands/reset.ts'
import { runCommand } from './commands/run.ts'
import { topicsCommand } from './commands/topics.ts'
import { validateCommand } from './commands/validate.ts'
import { processIo } from './command-io.ts'
import { runCommandLine } from './command-line.ts'
import { packageVersion } from './package-version.ts'

const commands = [
  runCommand,
  validateCommand,
  checkCommand,
  graphCommand,
  topicsCommand,
  resetCommand,
  initCommand,
  demoCommand,
]

process.exitCode = await runCommandLine(process.argv.slice(2), { version: packageVersion(), commands }, processIo)
