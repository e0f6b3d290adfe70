/** A name further away than this share of its length is another word, not a slip of the finger. */
const DISTANCE_SHARE_MAX = 0.4

/** The known name that is nearest to a mistyped one; `undefined` when none is near. */
export function nearestName(wrong: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const name of known) {
    const distance = editDistance(wrong.toLowerCase(), name.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [name, distance]
  }
  const limit = Math.max(1, Math.floor(Math.max(wrong.length, best?.length ?? 0) * DISTANCE_SHARE_MAX))
  return bestDistance <= limit ? best : undefined
}

/**
 * How many insertions, deletions, replacements and swaps of neighbours lead from one word to the other
 * (Damerau–Levenshtein, each place edited once).
 */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = current
  }
  return at(last, to.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
