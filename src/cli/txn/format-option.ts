import type { Argv } from 'yargs'

/** Adds `--format` to a command whose result programs may read. */
export function withFormat<T>(yargs: Argv<T>): Argv<T & { readonly format: 'text' | 'json' }> {
  return yargs.option('format', {
    choices: ['text', 'json'] as const,
    default: 'text' as const,
    describe: 'how to show the result',
  }) as Argv<T & { readonly format: 'text' | 'json' }>
}
