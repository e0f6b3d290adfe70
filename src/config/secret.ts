import { inspect } from 'node:util'

/** What is shown instead of a secret. */
export const CONCEALED = '***'

/** A text that prints as `***` wherever it ends up by accident: in logs, JSON, errors, `console.log`. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The text itself; call it where it goes to Kafka, nowhere else. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return CONCEALED
  }

  toJSON(): string {
    return CONCEALED
  }

  [inspect.custom](): string {
    return CONCEALED
  }
}

/** The object with those fields hidden from JSON, logs and loops; reading them by name works as before. */
export function withConcealed<T extends object>(object: T, names: readonly (keyof T)[]): T {
  for (const name of names) {
    if (Object.hasOwn(object, name)) Object.defineProperty(object, name, { enumerable: false })
  }
  return object
}
