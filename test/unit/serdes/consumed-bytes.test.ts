import { expect } from 'chai'
import { consumesBytes } from '../../../src/serdes/consumed-bytes.ts'
import { json } from '../../../src/serdes/json.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { bytes, string } from '../../../src/serdes/text.ts'

describe('a serde that consumes bytes', () => {
  it('is one of the library that reads something else from them, or a copy', () => {
    for (const serde of [string, bytes, long, json(), json(value => value), nullable(json())]) {
      expect(consumesBytes(serde), serde.name).to.equal(true)
    }
  })

  it('is none that nobody knows', () => {
    expect(consumesBytes({ ...string })).to.equal(false)
  })
})
