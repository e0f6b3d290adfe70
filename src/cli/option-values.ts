import { UsageError } from './usage-error.ts'

/** Reads an option that must be a whole number above zero; yargs' own numbers take any text as NaN. */
export function positiveInteger(name: string): (text: string) => number {
  return text => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value === 0) {
      throw new UsageError(`--${name} ${text}: a whole number above zero is needed.`)
    }
    return value
  }
}
