import { assert } from '../model/assert.ts'

/** A promise with its ends in hand. (`Promise.withResolvers` needs Node 22.) */
export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (reason: Error) => void
}

/** Makes a promise that somebody else settles. */
export function deferred<T>(): Deferred<T> {
  let ends: Omit<Deferred<T>, 'promise'> | undefined
  const promise = new Promise<T>((resolve, reject) => {
    ends = { resolve, reject }
  })
  assert(ends !== undefined, 'a promise calls its executor at once')
  return { promise, ...ends }
}
