import type { JsonFields } from './json-fields.ts'

/** Names that an object would put into another place than the one they are written at, or that mean something to it. */
const SPECIAL_NAME = /^\d+$|^toJSON$/

/** Whether an object with these names lists them in this order, so that a draft can stand for it. */
export function canDraft(names: readonly string[]): boolean {
  return (
    new Set(names).size === names.length && !names.some(name => SPECIAL_NAME.test(name) || name in Object.prototype)
  )
}

/**
 * An object that is only going to be written as JSON, at once, in place of the object: texts that are taken over from the record
 * are still the record's bytes. One for all records of a step.
 */
export class JsonDraft {
  readonly names: readonly string[]
  /** In front of each value: a comma or the brace, the name, the colon. */
  readonly leads: readonly Uint8Array[]
  readonly values: unknown[]
  /** Of each member, the field of `source` that is its text; −1 where its value is in `values`. */
  readonly texts: number[]
  /** Where those texts lie. */
  source: JsonFields | undefined

  /** @param names - those of which `canDraft` says so */
  constructor(names: readonly string[]) {
    this.names = names
    this.leads = names.map((name, at) => Buffer.from(`${at === 0 ? '{' : ','}${JSON.stringify(name)}:`))
    this.values = names.map(() => undefined)
    this.texts = names.map(() => -1)
  }

  /** The object it stands for, for `JSON.stringify`. */
  toJSON(): Record<string, unknown> {
    const { names, values, texts, source } = this
    return Object.fromEntries(
      names.map((name, at) => [name, (texts[at] ?? -1) < 0 ? values[at] : source?.textOf(texts[at] ?? -1)]),
    )
  }
}
