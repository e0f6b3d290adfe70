import type { ArgumentsCamelCase, Argv } from 'yargs'
import type { CommandIo } from './command-io.ts'

/** One command as its file writes it. `O`: its options as yargs parses them. */
export interface CommandSpecification<O> {
  /** Name and positionals in yargs' form, such as `run [files..]`. */
  readonly usage: string
  /** One line for the list of commands. */
  readonly summary: string
  /** Shown by `--help`: command line and what it does. */
  readonly examples: readonly (readonly [commandLine: string, description: string])[]
  readonly options: (yargs: Argv) => Argv<O>
  /** Does the work and gives the exit code; what it throws is shown as one block. */
  readonly run: (options: ArgumentsCamelCase<O>, io: CommandIo) => Promise<number>
}

/** Adds a command to a parser; the exit code goes to `done`. */
export type Command = (yargs: Argv, io: CommandIo, done: (exitCode: number) => void) => Argv

/** Makes a command of its specification. */
export function defineCommand<O>(specification: CommandSpecification<O>): Command {
  const { usage, summary, examples, options, run } = specification
  return (yargs, io, done) =>
    yargs.command<O>(
      usage,
      summary,
      argv => {
        for (const [commandLine, description] of examples) argv.example(commandLine, description)
        return options(argv)
      },
      async parsed => {
        done(await run(parsed, io))
      },
    )
}
