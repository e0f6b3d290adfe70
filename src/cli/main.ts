#!/usr/bin/env node
import { initCommand } from './commands/init.ts'
import { processIo } from './command-io.ts'
import { runCommandLine } from './command-line.ts'
import { packageVersion } from './package-version.ts'

const commands = [initCommand]

process.exitCode = await runCommandLine(process.argv.slice(2), { version: packageVersion(), commands }, processIo)
