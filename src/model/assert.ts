/**
 * Stops on a broken invariant; stays on in production, because going on with a wrong belief loses records.
 *
 * @param claim - begins with the invariant, such as `'I2 tiling'` (docs/invariants.md)
 * @throws InvariantError naming the claim and what was seen
 */
export function assert(condition: boolean, claim: string, seen?: Readonly<Record<string, unknown>>): asserts condition {
  if (!condition) throw new InvariantError(claim, seen)
}

/** Known to every copy of millrace in the process. */
const MARK = Symbol.for('millrace.invariant')

/** A broken invariant: a fault of millrace itself, never a condition of Kafka. Reported as `INTERNAL`. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
  readonly [MARK] = true

  constructor(claim: string, seen?: Readonly<Record<string, unknown>>) {
    super(seen === undefined ? claim : `${claim}: ${describe(seen)}`)
  }

  /** Also those of another copy of millrace, which the application may have built its topology with. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && MARK in value
  }
}

/** Ends a `switch` over a closed union: a new member does not compile until it is answered. */
export function unreachable(value: never): never {
  throw new InvariantError('unreachable', { value })
}

function describe(seen: Readonly<Record<string, unknown>>): string {
  return Object.entries(seen)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? JSON.stringify(value) : String(value)}`)
    .join(' ')
}
