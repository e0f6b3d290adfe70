import { MillraceError } from '../model/errors.ts'
import type { Producer } from '../kafka/producer/producer.ts'

/**
 * Gets rid of whatever transaction there is once its tasks are gone; afterwards a new one may begin.
 *
 * @throws MillraceError when that is not possible now
 */
export async function abandonTransaction(
  producer: Pick<Producer, 'transaction' | 'abortTransaction' | 'initialize'>,
  timeoutMs: number,
): Promise<void> {
  // A commit whose outcome is not known cannot be aborted (I10). A new epoch settles it, and new tasks begin with what
  // the group holds then.
  if (producer.transaction.state === 'unknown') return await producer.initialize()
  try {
    await producer.abortTransaction(timeoutMs)
  } catch (error) {
    // Fenced: what was open is the other owner's to abort; a new epoch is all that is left to get.
    if (!(error instanceof MillraceError) || error.code !== 'PRODUCER_FENCED') throw error
    await producer.initialize()
  }
}
