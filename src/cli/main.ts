#!/usr/bin/env node
import { COMMANDS } from './commands.ts'
import { processIo } from './command-io.ts'
import { runCommandLine } from './command-line.ts'
import { VERSION } from '../model/version.ts'

// A reader that has seen enough (`| head`) closes the pipe: nobody is left to write to.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(process.exitCode ?? 0)
  })
}

process.exitCode = await runCommandLine(process.argv.slice(2), { version: VERSION, commands: COMMANDS }, processIo)
