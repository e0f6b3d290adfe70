import { asMillraceError } from '../model/errors.ts'

/** Listeners of one kind of news. A listener that throws does not keep the news from the others: its error surfaces on its own. */
export class Listeners<Arguments extends readonly unknown[]> {
  readonly #listeners = new Set<(...news: Arguments) => void>()

  /** @returns a function that ends it */
  add(listener: (...news: Arguments) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(...news: Arguments): void {
    for (const listener of this.#listeners) {
      try {
        listener(...news)
      } catch (error) {
        // A rejection nobody handles: as loud as a throw, without cutting the news short.
        void Promise.reject(asMillraceError(error))
      }
    }
  }
}
