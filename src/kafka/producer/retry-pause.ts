const FIRST_MS = 1
const LAST_MS = 100
/** Tries before the pause grows: the markers of the transaction before are usually written within 4 ms. */
const FIRST_TRIES = 4

/** Milliseconds to wait after the given number of failures in a row (1, 2, …): 1 ms at first, then doubling up to 100 ms. */
export function retryPauseMs(failures: number): number {
  return failures <= FIRST_TRIES ? FIRST_MS : Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(failures - FIRST_TRIES, 7))
}
