/** A middle with its ends. */
export interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** The middle of some numbers; between the two middle ones when their count is even. NaN for none. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  if (!Number.isInteger(middle)) return upper
  return ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The middle and the ends of some numbers. */
export function spreadOf(numbers: readonly number[]): Spread {
  return { median: median(numbers), low: Math.min(...numbers), high: Math.max(...numbers) }
}

/**
 * How many times `ours` is `theirs`: the ratio of the medians, and the lowest and highest ratio of a round. Rounds lie side
 * by side in time, so a ratio within one is free of what the machine did in others; a round that one of them lacks is not
 * looked at.
 */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): Spread {
  const rounds = ours.slice(0, theirs.length).map((value, round) => value / (theirs[round] ?? Number.NaN))
  return { median: median(ours) / median(theirs), low: Math.min(...rounds), high: Math.max(...rounds) }
}

/** A point of a plane. */
export interface Point {
  readonly x: number
  readonly y: number
}

/**
 * How many times each `y` is what the straight line through all points says, 1 = on it. The line is that of the least
 * squares of relative distances, so that small values count as much as large ones. For two or more different `x`, and `y` above 0.
 */
export function aboveLine(points: readonly Point[]): readonly number[] {
  const sum = (term: (point: Point) => number): number => points.reduce((total, point) => total + term(point), 0)
  const weights = sum(({ y }) => 1 / y ** 2)
  const middleX = sum(({ x, y }) => x / y ** 2) / weights
  const middleY = sum(({ y }) => 1 / y) / weights
  const slope =
    sum(({ x, y }) => ((x - middleX) * (y - middleY)) / y ** 2) / sum(({ x, y }) => (x - middleX) ** 2 / y ** 2)
  return points.map(({ x, y }) => y / (middleY + slope * (x - middleX)))
}
