import { expect } from 'chai'
import { FIELDS_MAX, JsonFields } from '../../src/serdes/json-fields.ts'
import { JsonReader } from '../../src/serdes/json-reader.ts'
import { JsonShapes } from '../../src/serdes/json-shapes.ts'
import { readJson } from '../../src/serdes/json.ts'
import { expectIdentical } from './identical.ts'

/** What would go on with a text that is cut off, or would make it another one. */
const AROUND = Buffer.from('{"id":1,5"}]')

/** A reader that has learned some texts, and what it makes of others; also where only every second field is asked for. */
export class ReaderUnderTest {
  readonly #reader = new JsonReader()
  readonly #shapes = new JsonShapes()
  readonly #names: readonly string[]
  readonly #fields: JsonFields

  constructor(texts: readonly string[]) {
    for (const text of texts) this.#shapes.learn(text)
    const names = [...new Set(texts.flatMap(namesOf))]
    this.#names = [...names.filter((_, at) => at % 2 === 0).slice(0, FIELDS_MAX - 1), 'missing']
    this.#fields = new JsonFields(this.#names)
  }

  /** Whether it reads the bytes at all; what it reads then has to be what `JSON.parse` and the checks behind it give. */
  reads(bytes: Buffer): boolean {
    const before = Buffer.from(bytes)
    const value = this.#reader.read(bytes, this.#shapes.root)
    expect(bytes.equals(before), 'the bytes are left alone').to.equal(true)
    this.#expectFields(bytes, value)
    if (value === undefined) return false
    // Throws where the text is refused: then it should not have been read.
    expectIdentical(value, readJson(bytes, undefined))
    return true
  }

  /** The same fields, wherever the bytes lie and in whatever order they are asked for, or none where it reads no object. */
  #expectFields(bytes: Buffer, value: unknown): void {
    const around = Buffer.concat([AROUND, bytes, AROUND])
    const [start, end] = [AROUND.length, AROUND.length + bytes.length]
    const isRead = this.#fields.readFields(around, start, end, this.#shapes.root)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    expect(isRead, 'fields are read of what is read as an object').to.equal(isObject)
    if (!isObject) return
    const names = bytes.length % 2 === 0 ? this.#names : this.#names.toReversed()
    for (const name of [...names, ...names]) {
      const expected: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
      expectIdentical(this.#fields.field(name), expected, `the field ${name}`)
    }
    this.#fields.release()
  }
}

function namesOf(text: string): readonly string[] {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : []
}
