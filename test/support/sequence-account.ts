/** Elements of each key in their order. */
export type Sequences = ReadonlyMap<string, readonly string[]>

/** What became of an input. */
export interface Account {
  /** Elements that had to come. */
  readonly records: number
  /** Elements that came. */
  readonly outputs: number
  /** Elements that came again. */
  readonly duplicates: number
  /** Elements that did not come. */
  readonly lost: number
  /** What is neither: elements that nobody asked for, or out of order; at most a few, in words. */
  readonly wrong: readonly string[]
}

const WRONG_MAX = 10

/** Compares what came with what had to come, key by key, the whole sequence: order counts. Elements of a key are unique. */
export function compareSequences(expected: Sequences, actual: Sequences): Account {
  let records = 0
  let outputs = 0
  let duplicates = 0
  let lost = 0
  const wrong: string[] = []
  for (const key of new Set([...expected.keys(), ...actual.keys()])) {
    const wanted = expected.get(key) ?? []
    const places = new Map(wanted.map((element, index) => [element, index] as const))
    const seen = new Set<string>()
    let last = -1
    for (const element of actual.get(key) ?? []) {
      outputs += 1
      const place = places.get(element)
      if (place === undefined) wrong.push(`${key}: ${element} was never asked for`)
      else if (seen.has(element)) duplicates += 1
      else {
        if (place < last) wrong.push(`${key}: ${element} came after ${String(wanted[last])}`)
        last = place
        seen.add(element)
      }
    }
    records += wanted.length
    lost += places.size - seen.size
  }
  return { records, outputs, duplicates, lost, wrong: wrong.slice(0, WRONG_MAX) }
}
