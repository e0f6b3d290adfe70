/** Questions to a broker cost both sides; what takes long may be noticed a little later. */
const PAUSE_FIRST_MS = 20
const PAUSE_MAX_MS = 100
/** Only a failure takes that long: far more than anything needs, also on a loaded machine. */
const TIMEOUT_MS = 30_000

/**
 * Waits until `condition` holds, asking every 20 ms at first and every 100 ms later on.
 *
 * @param claim - what is waited for; the message of the failure
 * @param timeoutMs - @default 30 s
 */
export async function eventually(
  claim: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = TIMEOUT_MS,
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  let pauseMs = PAUSE_FIRST_MS
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${String(timeoutMs)} ms: ${claim}`)
    const pause = pauseMs
    await new Promise(resolve => setTimeout(resolve, pause))
    pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 1.2)
  }
}
