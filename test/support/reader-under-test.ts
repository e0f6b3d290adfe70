import { expect } from 'chai'
import { JsonReader } from '../../src/serdes/json-reader.ts'
import { JsonShapes } from '../../src/serdes/json-shapes.ts'
import { readJson } from '../../src/serdes/json.ts'
import { expectIdentical } from './identical.ts'

/** A reader that has learned some texts, and what it makes of others. */
export class ReaderUnderTest {
  readonly #reader = new JsonReader()
  readonly #shapes = new JsonShapes()

  constructor(texts: readonly string[]) {
    for (const text of texts) this.#shapes.learn(text)
  }

  /** Whether it reads the bytes at all; what it reads then has to be what `JSON.parse` and the checks behind it give. */
  reads(bytes: Buffer): boolean {
    const before = Buffer.from(bytes)
    const value = this.#reader.read(bytes, this.#shapes.root)
    expect(bytes.equals(before), 'the bytes are left alone').to.equal(true)
    if (value === undefined) return false
    // Throws where the text is refused: then it should not have been read.
    expectIdentical(value, readJson(bytes, undefined))
    return true
  }
}
