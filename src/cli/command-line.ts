import yargs, { type Argv } from 'yargs'
import { asMillraceError } from '../model/errors.ts'
import type { CommandIo } from './command-io.ts'
import type { Command } from './command.ts'
import { errorBlock } from './error-block.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { UsageError } from './usage-error.ts'

/** What the command line is made of. */
export interface CommandLine {
  readonly version: string
  readonly commands: readonly Command[]
}

/** Runs one command line, without the program's name, and gives the exit code; never rejects. */
export async function runCommandLine(
  argv: readonly string[],
  { version, commands }: CommandLine,
  io: CommandIo,
): Promise<number> {
  let exitCode: number = EXIT_CODES.ok
  const parser = createParser(version, io)
  for (const command of commands) {
    command(parser, io, code => {
      exitCode = code
    })
  }
  try {
    await parser.parseAsync(argv, {}, (_error, _parsed, output) => {
      if (output !== '') io.out(output)
    })
    return exitCode
  } catch (thrown) {
    if (thrown instanceof UsageError) {
      io.err(`${thrown.message}\nTry \`millrace --help\`, or \`millrace <command> --help\`.`)
      return EXIT_CODES.usage
    }
    io.err(errorBlock(thrown))
    return asMillraceError(thrown).exitCode
  }
}

function createParser(version: string, io: CommandIo): Argv {
  return (
    yargs()
      .scriptName('millrace')
      .usage('$0 <command>\n\nExactly-once Kafka-to-Kafka stream processing.')
      .version(version)
      .help()
      .strict()
      .recommendCommands()
      .demandCommand(1, 'Name a command.')
      .wrap(io.terminal ? Math.min(110, process.stderr.columns) : 100)
      .completion('completion', 'prints a script for shell completion')
      .parserConfiguration({ 'duplicate-arguments-array': true, 'parse-numbers': false, 'dot-notation': false })
      .exitProcess(false)
      .epilogue(
        'Documentation: docs/ of the package. Exit codes: 0 done, 1 a check found differences, 2 usage, 65 data, 69 unreachable, 70 fault, 75 try again, 77 not allowed, 78 configuration.',
      )
      // Without a throw here yargs would go on and run the command after a wrong option.
      .fail((message: string | undefined, error: Error | undefined) => {
        // yargs wraps what a `coerce` throws into an error of its own.
        if (error !== undefined && error.name !== 'YError') throw error
        const text = error?.message ?? message ?? 'The command line is wrong.'
        // What yargs says of an unknown command with a known one near it begins so, and does not tell what is wrong.
        throw new UsageError(text.startsWith('Did you mean') ? `There is no such command. ${text}` : text)
      })
  )
}
