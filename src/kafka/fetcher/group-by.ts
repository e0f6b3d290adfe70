/** A list's members by a key, in order of first appearance. (`Map.groupBy` is not in Node 20.) */
export function groupBy<K, V>(list: readonly V[], keyOf: (member: V) => K): ReadonlyMap<K, V[]> {
  const groups = new Map<K, V[]>()
  for (const member of list) {
    const key = keyOf(member)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [member])
    else group.push(member)
  }
  return groups
}
