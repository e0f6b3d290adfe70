import { parseDurationMs } from '../model/duration.ts'
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

/** Reads an option that must be a whole number from zero on; one that was not given stays `undefined`. */
export function wholeNumber(name: string): (text: string | undefined) => number | undefined {
  return text => {
    if (text === undefined) return undefined
    const value = Number(text)
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
      throw new UsageError(`--${name} ${text}: a whole number is needed.`)
    }
    return value
  }
}

/** Reads an option that must be a length of time; in milliseconds. */
export function durationOption(name: string): (text: string) => number {
  return text => {
    const ms = parseDurationMs(text)
    if (ms === undefined) throw new UsageError(`--${name} ${text}: write 30s, 5m, 2h or 7d.`)
    return ms
  }
}
