#!/usr/bin/env node
import { COMMANDS } from './commands.ts'
import { processIo } from './command-io.ts'
import { runCommandLine } from './command-line.ts'
import { packageVersion } from './package-version.ts'

process.exitCode = await runCommandLine(
  process.argv.slice(2),
  { version: packageVersion(), commands: COMMANDS },
  processIo,
)
