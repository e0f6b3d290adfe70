import { parseDurationMs, type Duration } from '../model/duration.ts'
import type { JoinKind } from '../operators/table-table-join.ts'
import type { AnySerde } from '../serdes/serde.ts'
import type { StoreEngineOptions } from '../stores/store-spec.ts'
import type { Graph } from './graph.ts'
import type { Named, SerdePair } from './parts.ts'

/** Options of a stream-stream join, their types forgotten. */
export interface ErasedStreamJoinOptions extends Named, SerdePair, StoreEngineOptions {
  readonly within: Duration | { readonly before: Duration; readonly after: Duration }
  readonly grace: Duration
  readonly store?: string | undefined
  readonly otherValue?: AnySerde | undefined
}

/** How far two joined records may lie apart, in ms. */
export interface JoinReach {
  /** How far the right record may lie before the left one. */
  readonly beforeMs: number
  readonly afterMs: number
  readonly graceMs: number
}

/** Names of the nodes and stores of a stream-stream join. */
export interface JoinNames {
  readonly leftWindow: string
  readonly rightWindow: string
  readonly left: string
  readonly right: string
  readonly merge: string
  readonly leftStore: string
  readonly rightStore: string
  readonly sharedStore: string
}

/** The bounds of a join; a mistake is noted when one is no duration. Kafka Streams: `JoinWindows`. */
export function joinReach(graph: Graph, { within, grace }: ErasedStreamJoinOptions, step: string): JoinReach {
  const { before, after } = typeof within === 'object' ? within : { before: within, after: within }
  return {
    beforeMs: durationOr0(graph, before, 'within', step),
    afterMs: durationOr0(graph, after, 'within', step),
    graceMs: durationOr0(graph, grace, 'grace', step),
  }
}

/** Milliseconds of an option; a mistake is noted when it is no duration. */
export function durationOr0(graph: Graph, duration: unknown, option: string, step: string): number {
  const ms = parseDurationMs(duration)
  if (ms !== undefined) return ms
  graph.report('TOPOLOGY_INVALID', {
    node: step,
    what: `${option} of ${step} is a duration such as '1m' or 60000, got ${String(duration)}.`,
    action: `Give the step \`${option}\`; there is no default.`,
  })
  return 0
}

/** Names as the JVM gives them; its numbers are taken whether they show or not. Kafka Streams: `KStreamImplJoin.join`. */
export function joinNames(
  graph: Graph,
  { name, store }: Pick<ErasedStreamJoinOptions, 'name' | 'store'>,
  kind: JoinKind,
): JoinNames {
  const named = (suffix: string): string | undefined => (name === undefined ? undefined : `${name}${suffix}`)
  const suffixes = {
    left: kind === 'outer' ? '-outer-this-join' : '-this-join',
    right: kind === 'inner' ? '-other-join' : '-outer-other-join',
    shared: kind === 'outer' ? '-outer-shared-join' : '-left-shared-join',
  }
  const leftPrefix = kind === 'outer' ? 'KSTREAM-OUTERTHIS-' : 'KSTREAM-JOINTHIS-'
  const leftWindow = graph.nameOr(named('-this-windowed'), 'KSTREAM-WINDOWED-')
  const rightWindow = graph.nameOr(named('-other-windowed'), 'KSTREAM-WINDOWED-')
  const left = graph.numberedName(leftPrefix)
  const right = graph.numberedName(kind === 'inner' ? 'KSTREAM-JOINOTHER-' : 'KSTREAM-OUTEROTHER-')
  const merge = graph.nameOr(named('-merge'), 'KSTREAM-MERGE-')
  const numbered = { left, right, shared: `KSTREAM-OUTERSHARED-${left.slice(leftPrefix.length)}` }
  const storeOf = (side: keyof typeof numbered): string =>
    `${store === undefined ? numbered[side] : `${store}${suffixes[side]}`}-store`
  return {
    leftWindow,
    rightWindow,
    left: named(suffixes.left) ?? left,
    right: named(suffixes.right) ?? right,
    merge,
    leftStore: storeOf('left'),
    rightStore: storeOf('right'),
    sharedStore: storeOf('shared'),
  }
}
