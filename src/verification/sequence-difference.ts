/** What was found of what had to be there. */
export interface SequenceDifference<E, F> {
  /** Expected and not found. */
  readonly lost: readonly E[]
  /** Found once more than expected. */
  readonly duplicated: readonly F[]
  /** Found and never expected. */
  readonly unexplained: readonly F[]
  /** Both hold the same, but this one was found where another was expected first. */
  readonly outOfOrder: F | undefined
}

interface Named<T> {
  readonly id: string
  readonly item: T
}

/** Compares two sequences of things with ids: as bags, and, where these are equal, by their order. */
export function differenceOf<E, F>(
  expected: readonly Named<E>[],
  found: readonly Named<F>[],
  { ordered }: { readonly ordered: boolean },
): SequenceDifference<E, F> {
  const open = new Map<string, E[]>()
  const known = new Set<string>()
  for (const { id, item } of expected) {
    known.add(id)
    const list = open.get(id)
    if (list === undefined) open.set(id, [item])
    else list.push(item)
  }
  const duplicated: F[] = []
  const unexplained: F[] = []
  for (const { id, item } of found) {
    const list = open.get(id)
    if (list === undefined || list.length === 0) (known.has(id) ? duplicated : unexplained).push(item)
    else list.shift()
  }
  const lost = [...open.values()].flat()
  const isSame = lost.length === 0 && duplicated.length === 0 && unexplained.length === 0
  const at = ordered && isSame ? found.findIndex(({ id }, index) => id !== expected[index]?.id) : -1
  return { lost, duplicated, unexplained, outOfOrder: at < 0 ? undefined : found[at]?.item }
}

/** Ways to take a sequence apart that are followed at once. */
const WAYS_MAX = 2_000

/**
 * Whether a sequence is made of others that each kept their order, as cards are shuffled.
 *
 * @returns the first place that fits nowhere; `undefined` when all fits; `unknown` when there are too many ways to tell
 */
export function shuffleFault(
  found: readonly string[],
  sequences: readonly (readonly string[])[],
): number | undefined | 'unknown' {
  let ways: readonly (readonly number[])[] = [sequences.map(() => 0)]
  for (const [at, id] of found.entries()) {
    const next = new Map<string, readonly number[]>()
    for (const way of ways) {
      for (const [which, sequence] of sequences.entries()) {
        if (sequence[way[which] ?? 0] !== id) continue
        const taken = way.with(which, (way[which] ?? 0) + 1)
        next.set(taken.join(), taken)
      }
    }
    if (next.size === 0) return at
    if (next.size > WAYS_MAX) return 'unknown'
    ways = [...next.values()]
  }
  return undefined
}
