import type { RunObservation } from '../run-observation.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/** I15: once everything is whole again, the lag is 0 within a known time. */
export function checkLiveness({ recovery }: RunObservation): CheckReport {
  const book = new CheckBook('liveness')
  if (recovery === undefined) {
    book.notChecked('nobody measured how long recovery took')
    return book.report()
  }
  const { healedAtMs, caughtUpAtMs, boundMs } = recovery
  book.compared()
  const tookMs = caughtUpAtMs === undefined ? undefined : caughtUpAtMs - healedAtMs
  if (tookMs === undefined)
    book.found('stuck', `the lag was still not 0 when the observer gave up (bound ${String(boundMs)} ms)`)
  else if (tookMs > boundMs)
    book.found('slow', `the lag was 0 after ${String(tookMs)} ms, the bound is ${String(boundMs)} ms`)
  return book.report()
}
