import { MillraceError } from '../../src/model/errors.ts'

/** The error that a promise is rejected with; fails when it is fulfilled, or rejected with anything else. */
export async function rejectionOf(promise: Promise<unknown>): Promise<MillraceError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof MillraceError) return error
    throw error
  }
  throw new Error('the promise was fulfilled')
}
