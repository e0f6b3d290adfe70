/** A record of a compacted partition: what it is compared by, its key, and whether it deletes the key. */
export interface Keyed<T> {
  readonly id: string
  readonly key: string
  readonly isDeletion: boolean
  readonly item: T
}

/**
 * What the cleaner cannot have taken. It goes through a log from its beginning, so of each key it takes the older before
 * the newer, and never the newest; only a deletion goes itself, once all that it deletes is gone. What is left of a key is
 * therefore the end of what was written, and anything missing behind a record that is left was lost otherwise.
 * Kafka: `Cleaner.cleanSegments`, `Cleaner.shouldRetainRecord`.
 *
 * @param expected - in the order of writing
 * @param found - what is left, in the order of the log; nothing that is not expected
 */
export function notCleaned<T>(expected: readonly Keyed<T>[], found: readonly Omit<Keyed<T>, 'item'>[]): readonly T[] {
  const left = new Map<string, string[]>()
  for (const { key, id } of found) {
    const list = left.get(key)
    if (list === undefined) left.set(key, [id])
    else list.push(id)
  }
  const written = new Map<string, Keyed<T>[]>()
  for (const one of expected) {
    const list = written.get(one.key)
    if (list === undefined) written.set(one.key, [one])
    else list.push(one)
  }
  return [...written].flatMap(([key, list]) => missingOf(list, left.get(key) ?? []))
}

/** Walks both from their ends: what is missing before the oldest that is left has an excuse. */
function missingOf<T>(written: readonly Keyed<T>[], left: readonly string[]): readonly T[] {
  if (left.length === 0) {
    const newest = written.at(-1)
    return newest === undefined || newest.isDeletion ? [] : [newest.item]
  }
  const missing: T[] = []
  let at = left.length - 1
  for (const { id, item } of written.toReversed()) {
    if (at < 0) break
    if (id === left[at]) at -= 1
    else missing.push(item)
  }
  // Else they stand in another order, which is told as such.
  return at < 0 ? missing : []
}
