import type { ReadRecord } from '../../support/kafka-reader.ts'

/** Several tasks write these topics: which one comes first is a matter of luck, on both sides. */
const INTERLEAVED = new Set(['halves-repartition', 'halves-changelog', 'rekeyed'])
/** What a suppress holds goes to its changelog at commits, a record per key: how many there are is a matter of time. */
const ONE_PER_COMMIT = new Set(['until-close-store-changelog', 'limited-store-changelog'])
/** Stamped with the time at which they are sent. */
const STAMPED_WHEN_SENT = new Set([...ONE_PER_COMMIT, 'waiting-Buffer-changelog'])

/** A topic as it is compared, by partition: everything but offsets, which count markers. */
function shown(records: readonly ReadRecord[], topic: string): ReadonlyMap<string, readonly string[]> {
  const partitions = new Map<string, string[]>()
  for (const { partition, key, value, timestamp, headers } of latestOnly(records, ONE_PER_COMMIT.has(topic))) {
    // A record without a key goes anywhere, on both sides.
    const place = key === null ? 'any' : String(partition)
    const line = {
      key: key?.toString('latin1') ?? null,
      value: value?.toString('latin1') ?? null,
      ...(INTERLEAVED.has(topic) || STAMPED_WHEN_SENT.has(topic) ? {} : { timestamp }),
      ...(INTERLEAVED.has(topic)
        ? {}
        : { headers: headers.map(([name, bytes]) => [name, bytes?.toString('latin1') ?? null]) }),
    }
    partitions.set(place, [...(partitions.get(place) ?? []), JSON.stringify(line)])
  }
  const isSorted = (place: string): boolean => place === 'any' || INTERLEAVED.has(topic) || ONE_PER_COMMIT.has(topic)
  return new Map([...partitions].map(([place, lines]) => [place, isSorted(place) ? lines.toSorted() : lines]))
}

function latestOnly(records: readonly ReadRecord[], applies: boolean): readonly ReadRecord[] {
  return applies ? [...new Map(records.map(record => [record.key?.toString('latin1'), record])).values()] : records
}

/** Where a topic of ours and one of the JVM begin to differ, a partition at a time; `name` without application id. */
export function differencesOf(
  name: string,
  ourRecords: readonly ReadRecord[],
  theirRecords: readonly ReadRecord[],
): readonly string[] {
  const [ours, theirs] = [shown(ourRecords, name), shown(theirRecords, name)]
  return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap(partition => {
    const [own, other] = [ours.get(partition) ?? [], theirs.get(partition) ?? []]
    const at = Array.from({ length: Math.max(own.length, other.length) }, (_, index) => index).find(
      index => own[index] !== other[index],
    )
    if (at === undefined) return []
    const place = `${name}-${partition} at ${String(at)} (${String(own.length)}, ${String(other.length)} records)`
    return [`${place}\n  ours   ${String(own[at])}\n  theirs ${String(other[at])}`]
  })
}
