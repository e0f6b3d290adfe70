import type { Argv } from 'yargs'
import { UsageError } from './usage-error.ts'

/** Options that name an application. */
export interface ApplicationOptions {
  readonly files: string[] | undefined
  readonly config: string[] | undefined
  readonly set: string[] | undefined
}

/** Adds them to a command whose usage has the positional `[files..]`. */
export function withApplicationOptions(yargs: Argv): Argv<ApplicationOptions> {
  return yargs
    .positional('files', {
      type: 'string',
      array: true,
      describe: 'YAML files of the application, merged left to right',
    })
    .option('config', {
      alias: 'c',
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'one more YAML file; later ones win',
    })
    .option('set', {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'set one value, such as streams.num.stream.threads=2',
    })
}

/** Where the application is: its files, in the order in which they merge, and single values that win. */
export interface ApplicationPlace {
  readonly files: readonly string[]
  readonly overrides: readonly string[]
}

/** @throws UsageError without a file, or with an override that is none */
export function applicationPlace({ files = [], config = [], set = [] }: ApplicationOptions): ApplicationPlace {
  const all = [...files, ...config]
  if (all.length === 0) throw new UsageError('Name the YAML file of the application.')
  const wrong = set.find(override => !/^[^=]+=/.test(override))
  // Only what looks like a path: the rest may be a secret.
  if (wrong !== undefined) throw new UsageError(`--set ${/^[\w.-]*/.exec(wrong)?.[0] ?? ''}: write path=value.`)
  return { files: all, overrides: set }
}
