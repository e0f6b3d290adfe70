/** Stopping several brokers in order, one of which may leave a class archive behind. */
const END_TIMEOUT_MS = 120_000

let outlivesFiles = false
const endings: (() => Promise<void>)[] = []

/**
 * Ends what the tests of one process share after the last of them: at the end of mocha's run, or, in a lane of the whole
 * test run, where mocha runs once per file, when the lane ends. To be called while a test file is loaded.
 */
export function atRunEnd(title: string, end: () => Promise<void>): void {
  // Programs of ours that are no tests use the same clients, and end them by ending.
  if (!outlivesFiles && typeof after === 'function') {
    after(title, async function () {
      this.timeout(END_TIMEOUT_MS)
      await end()
    })
  } else {
    endings.push(end)
  }
}

/** What is shared lives until `endShared` from now on. */
export function keepShared(): void {
  outlivesFiles = true
}

/** Ends everything that was kept; what is asked for later is started again. */
export async function endShared(): Promise<void> {
  await Promise.all(endings.map(end => end()))
}
