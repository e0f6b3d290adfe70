import type { Clock, Timer } from '../model/clock.ts'
import { MillraceError } from '../model/errors.ts'

/** Gives a promise a deadline. The work goes on behind it: only for the end of a thread, where nothing follows. */
export async function withDeadline<T>(
  work: Promise<T>,
  { clock, leftMs, what }: { readonly clock: Clock; readonly leftMs: number; readonly what: string },
): Promise<T> {
  let timer: Timer | undefined
  const late = new Promise<never>((_, reject) => {
    timer = clock.after(leftMs, () => {
      reject(new MillraceError('SHUTDOWN_TIMED_OUT', { what: `No time was left for ${what}.` }))
    })
  })
  try {
    return await Promise.race([work, late])
  } finally {
    timer?.cancel()
  }
}
