/**
 * Waits until `condition` holds, asking every 20 ms.
 *
 * @param claim - what is waited for; the message of the failure
 */
export async function eventually(
  claim: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 10_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${String(timeoutMs)} ms: ${claim}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
