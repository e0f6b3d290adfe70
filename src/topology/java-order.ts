/** Slots of a `java.util.HashMap` at first, and how full it may become. */
const SLOTS_MIN = 16
const LOAD_FACTOR = 0.75

/**
 * Strings in the order a `java.util.HashSet` gives them when they were added in the order given: the JVM's descriptions of
 * topologies show it.
 */
export function hashOrder(texts: readonly string[]): readonly string[] {
  let slots = SLOTS_MIN
  while (texts.length > slots * LOAD_FACTOR) slots *= 2
  const buckets = new Map<number, string[]>()
  for (const text of texts) {
    const hash = hashCode(text)
    const slot = (hash ^ (hash >>> 16)) & (slots - 1)
    const bucket = buckets.get(slot)
    if (bucket === undefined) buckets.set(slot, [text])
    else bucket.push(text)
  }
  return [...buckets].toSorted(([a], [b]) => a - b).flatMap(([, bucket]) => bucket)
}

/** `java.lang.String.hashCode`. */
function hashCode(text: string): number {
  let hash = 0
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0
  return hash
}
