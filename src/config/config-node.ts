import type { Place } from './source-file.ts'

/** One scalar of the configuration, after interpolation. */
export interface ScalarNode {
  readonly kind: 'scalar'
  readonly place: Place
  /** As YAML reads it (number, boolean, null); a text when quoted or interpolated. */
  readonly value: string | number | boolean | null
  /** As it was written, after interpolation: a text field stays text. */
  readonly text: string
  /** Whether a variable or a file had a part in it. */
  readonly interpolated: boolean
  /** Whether its references could not be resolved; that has been reported, so what it lacks is no further mistake. */
  readonly broken: boolean
  /** Where the text begins in the file, when it stands there character by character; for places inside expressions. */
  readonly verbatimStart: number | undefined
}

/** One entry of a map. */
export interface MapEntry {
  readonly keyPlace: Place
  readonly node: ConfigNode
}

/** A map of the configuration. */
export interface MapNode {
  readonly kind: 'map'
  readonly place: Place
  readonly entries: ReadonlyMap<string, MapEntry>
}

/** A list of the configuration. */
export interface ListNode {
  readonly kind: 'list'
  readonly place: Place
  readonly items: readonly ConfigNode[]
}

/** The configuration as a tree that knows where each of its parts was written. */
export type ConfigNode = ScalarNode | MapNode | ListNode

/** The plain value of a node: what YAML says, as JSON knows it. */
export function plainValue(node: ConfigNode): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value
    case 'list':
      return node.items.map(plainValue)
    case 'map':
      return Object.fromEntries(Array.from(node.entries, ([name, entry]) => [name, plainValue(entry.node)]))
  }
}

/** The later tree over the earlier one: maps are merged entry by entry, all else is replaced, an explicit null removes. */
export function mergeNodes(earlier: ConfigNode, later: ConfigNode): ConfigNode {
  if (earlier.kind !== 'map' || later.kind !== 'map') return later
  const entries = new Map(earlier.entries)
  for (const [name, entry] of later.entries) {
    const below = entries.get(name)
    if (entry.node.kind === 'scalar' && entry.node.value === null) entries.delete(name)
    else if (below === undefined) entries.set(name, entry)
    else entries.set(name, { keyPlace: entry.keyPlace, node: mergeNodes(below.node, entry.node) })
  }
  return { kind: 'map', place: later.place, entries }
}
