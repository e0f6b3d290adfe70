import { randomInt } from 'node:crypto'

const SEEDS = 2 ** 31

let seed: number | undefined

/** The seed of this process: `MILLRACE_CHAOS_SEED`, or one by chance, which a failing test has to print. */
export function chaosSeed(): number {
  const given = process.env['MILLRACE_CHAOS_SEED']
  seed ??= given === undefined ? randomInt(SEEDS) : Number(given)
  if (!Number.isInteger(seed)) throw new Error(`MILLRACE_CHAOS_SEED is not a whole number: ${String(given)}`)
  return seed
}
