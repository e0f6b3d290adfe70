import type { AnySerde } from '../serdes/serde.ts'
import { bytes } from '../serdes/text.ts'
import type { Side } from './graph-node.ts'
import type { StreamParts } from './parts.ts'

/** The serde of a side for a step that writes it; a mistake is noted when nobody has given one. */
export function serdeOf(stream: StreamParts, side: Side, given: AnySerde | undefined, step: string): AnySerde {
  const serde = given ?? stream[side]
  if (serde !== undefined) return serde
  stream.graph.report('SERDE_MISSING', {
    node: step,
    what: `${step} writes the ${side} of ${stream.node.name}, and no serde of it is known.`,
    action: `Give the step a serde: { ${side}: … }, or state it before with withSerdes.`,
  })
  return bytes
}
