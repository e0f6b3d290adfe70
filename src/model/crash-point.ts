/**
 * The named moments of the commit path at which a test may end the process (docs/reliability.md, F1–F8). In production
 * each is one comparison with `undefined`.
 */
export type CrashPointName =
  | 'initProducerId:sent'
  | 'initProducerId:answered'
  | 'addPartitions:answered'
  | 'produce:firstAnswered'
  | 'produce:allAnswered'
  | 'flush:done'
  | 'addOffsets:answered'
  | 'txnOffsetCommit:answered'
  | 'endTxn:sent'
  | 'endTxn:answered'
  | 'commit:beforeApply'
  | 'commit:applied'

/** Every crash point, in the order in which a commit passes them. */
export const CRASH_POINTS: readonly CrashPointName[] = [
  'initProducerId:sent',
  'initProducerId:answered',
  'addPartitions:answered',
  'produce:firstAnswered',
  'produce:allAnswered',
  'flush:done',
  'addOffsets:answered',
  'txnOffsetCommit:answered',
  'endTxn:sent',
  'endTxn:answered',
  'commit:beforeApply',
  'commit:applied',
]

let armedName: CrashPointName | undefined
let armedAction: (() => void) | undefined

/** Passes a named moment: nothing happens unless it is armed. */
export function crashPoint(name: CrashPointName): void {
  if (armedName === name) armedAction?.()
}

/**
 * Arms one crash point of this thread; arming another one replaces it.
 *
 * @param action - called each time the point is passed; it usually does not return
 */
export function armCrashPoint(name: CrashPointName, action: () => void): void {
  armedName = name
  armedAction = action
}

/** Makes every crash point a no-op again. */
export function disarmCrashPoint(): void {
  armedName = undefined
  armedAction = undefined
}
