#!/usr/bin/env node
import { demoCommand } from './commands/demo.ts'
import { initCommand } from './commands/init.ts'
import { runCommand } from './commands/run.ts'
import { processIo } from './command-io.ts'
import { runCommandLine } from './command-line.ts'
import { packageVersion } from './package-version.ts'

const commands = [runCommand, initCommand, demoCommand]

process.exitCode = await runCommandLine(process.argv.slice(2), { version: packageVersion(), commands }, processIo)
