import type { ProcessingGuarantee } from '../topology/properties.ts'
import { AtLeastOnceStrategy } from './at-least-once-strategy.ts'
import { AtMostOnceStrategy } from './at-most-once-strategy.ts'
import type { CommitParts } from './commit-cycle.ts'
import type { CommitStrategy } from './commit-strategy.ts'
import { ExactlyOnceStrategy } from './exactly-once-strategy.ts'
import type { InputRewinder } from './input-rewinder.ts'

type StrategyMaker = (parts: CommitParts, rewinder: InputRewinder) => CommitStrategy

const STRATEGIES: Readonly<Record<ProcessingGuarantee, StrategyMaker>> = {
  exactly_once_v2: (parts, rewinder) => new ExactlyOnceStrategy(parts, rewinder),
  at_least_once: (parts, rewinder) => new AtLeastOnceStrategy(parts, rewinder),
  at_most_once: parts => new AtMostOnceStrategy(parts),
}

/** The strategy of a guarantee: the only place where the mode is looked at. */
export function commitStrategyOf(
  guarantee: ProcessingGuarantee,
  parts: CommitParts,
  rewinder: InputRewinder,
): CommitStrategy {
  return STRATEGIES[guarantee](parts, rewinder)
}
