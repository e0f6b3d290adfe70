import { MillraceError } from '../model/errors.ts'

/** An answer that the application can do without: `undefined` where the right is missing; everything else is a real failure. */
export function ifAllowed<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (error instanceof MillraceError && error.code === 'NOT_AUTHORIZED') return undefined
    throw error
  })
}
