import { MillraceError } from '../../model/errors.ts'

/**
 * What the fetcher knows of one partition: `locating` its leader, `validating` its position against a new leader
 * epoch (KIP-320), `ready` to be fetched, or `failed` until somebody seeks or removes it.
 */
export type PartitionState = 'locating' | 'validating' | 'ready' | 'failed'

/**
 * What happens to it. `located`: the leader is known and the position needs no check; `epochChanged`: it needs one;
 * `validated`: it passed; `leaderLost`: the leader moved, is unreachable or refused; `moved`: somebody sought.
 */
export type PartitionEvent = 'located' | 'epochChanged' | 'validated' | 'leaderLost' | 'failed' | 'moved'

const NEXT: Record<PartitionState, Record<PartitionEvent, PartitionState | 'illegal'>> = {
  locating: {
    located: 'ready',
    epochChanged: 'validating',
    validated: 'illegal',
    leaderLost: 'locating',
    failed: 'failed',
    moved: 'locating',
  },
  validating: {
    located: 'illegal',
    epochChanged: 'illegal',
    validated: 'ready',
    leaderLost: 'locating',
    failed: 'failed',
    // The position under check is no longer the position: look again whether the new one needs a check.
    moved: 'locating',
  },
  ready: {
    located: 'illegal',
    epochChanged: 'illegal',
    validated: 'illegal',
    leaderLost: 'locating',
    failed: 'failed',
    moved: 'ready',
  },
  failed: {
    located: 'illegal',
    epochChanged: 'illegal',
    validated: 'illegal',
    leaderLost: 'illegal',
    failed: 'illegal',
    moved: 'locating',
  },
}

/**
 * Moves on.
 *
 * @throws INTERNAL naming both: a wrong move is a fault of the fetcher, never a condition of Kafka
 */
export function nextPartitionState(state: PartitionState, event: PartitionEvent): PartitionState {
  const next = NEXT[state][event]
  if (next === 'illegal') {
    throw new MillraceError('INTERNAL', { what: `A fetched partition that is ${state} cannot take ${event}.` })
  }
  return next
}
