import { expect } from 'chai'
import { JsonSpeculation, JsonSpeculations } from '../../../src/serdes/json-speculation.ts'

/** Reads a text as the serde does; true when its shape was known. */
function reads(speculation: JsonSpeculation, text: string): boolean {
  if (speculation.read(Buffer.from(text)) !== undefined) return true
  speculation.parsed(text)
  return false
}

const known = (speculation: JsonSpeculation, texts: readonly string[]): number =>
  texts.filter(text => reads(speculation, text)).length

const alike = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `{"id":${String(index)}}`)
const various = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `{"k${String(index)}":1}`)

describe('JsonSpeculation', () => {
  it('knows the shape of a text from the second one on', () => {
    expect(known(new JsonSpeculation(), alike(100))).to.equal(99)
  })

  it('is given up for a while where every text has another shape, and begins anew', () => {
    const speculation = new JsonSpeculation()
    expect(known(speculation, various(2_000))).to.equal(0)
    expect(known(speculation, alike(1_000)), 'in the pause').to.equal(0)
    expect(known(speculation, alike(10_000)), 'behind it').to.be.greaterThan(5_000)
  })

  it('remembers no more than a few members, however many there are', () => {
    const speculation = new JsonSpeculation()
    const wide = `{${Array.from({ length: 500 }, (_, index) => `"k${String(index)}":1`).join(',')}}`
    expect(reads(speculation, wide)).to.equal(false)
    expect(reads(speculation, wide)).to.equal(false)
    expect(reads(speculation, '{"k0":1,"k1":1}')).to.equal(true)
  })

  it('goes on while more texts are known than not', () => {
    const speculation = new JsonSpeculation()
    const mixed = alike(20_000).map((text, index) => (index % 3 === 0 ? `{"k${String(index)}":1}` : text))
    expect(known(speculation, mixed)).to.be.greaterThan(13_000)
  })

  it('leaves long texts to JSON.parse, and they count for nothing', () => {
    const speculation = new JsonSpeculation()
    const long = `{"id":"${'x'.repeat(70_000)}"}`
    for (let count = 0; count < 200; count += 1) expect(reads(speculation, long)).to.equal(false)
    expect(known(speculation, alike(10))).to.equal(9)
  })

  it('is apart for keys and values, and for topics, of which a bounded number is remembered', () => {
    const speculations = new JsonSpeculations()
    const orders = speculations.of('orders', 'value')
    expect(speculations.of('orders', 'key')).to.not.equal(orders)
    expect(speculations.of('payments', 'value')).to.not.equal(orders)
    expect(speculations.of('orders', 'value')).to.equal(orders)
    for (let count = 0; count < 200; count += 1) speculations.of(`topic-${String(count)}`, 'value')
    expect(speculations.of('orders', 'value')).to.not.equal(orders)
  })
})
