import { expect } from 'chai'
import { JsonFields } from '../../../src/serdes/json-fields.ts'
import { JsonShapes } from '../../../src/serdes/json-shapes.ts'

describe('fields of JSON', () => {
  it('are found by their names where texts of another topic have other members', () => {
    const fields = new JsonFields(['a', 'b'])
    const read = (text: string, shapes: JsonShapes): readonly unknown[] => {
      const bytes = Buffer.from(text)
      expect(fields.readFields(bytes, 0, bytes.length, shapes.root), text).to.equal(true)
      return [fields.field('a'), fields.field('b')]
    }
    const [one, other] = [new JsonShapes(), new JsonShapes()]
    one.learn('{"a":"1","b":2}')
    other.learn('{"b":"3","x":4,"a":5}')
    expect(read('{"a":"1","b":2}', one)).to.deep.equal(['1', 2])
    expect(read('{"b":"3","x":4,"a":5}', other)).to.deep.equal([5, '3'])
  })
})
