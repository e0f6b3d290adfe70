import { expect } from 'chai'
import { consumesBytes } from '../../../src/serdes/consumed-bytes.ts'
import { json } from '../../../src/serdes/json.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { bytes, string } from '../../../src/serdes/text.ts'

describe('a serde that consumes bytes', () => {
  it('is one of the library that reads something else from them', () => {
    for (const serde of [string, long, json(), json(value => value), nullable(json())]) {
      expect(consumesBytes(serde), serde.name).to.equal(true)
    }
  })

  it('is none that gives the bytes themselves, or that nobody knows', () => {
    expect(consumesBytes(bytes)).to.equal(false)
    expect(consumesBytes(nullable(bytes))).to.equal(false)
    expect(consumesBytes({ ...string })).to.equal(false)
  })
})
