#!/usr/bin/env node
import { COMMANDS } from './commands.ts'
import { processIo } from './command-io.ts'
import { runCommandLine } from './command-line.ts'
import { VERSION } from '../version.ts'

process.exitCode = await runCommandLine(process.argv.slice(2), { version: VERSION, commands: COMMANDS }, processIo)
