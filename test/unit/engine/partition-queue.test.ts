import { expect } from 'chai'
import { mapper, withReads } from '../../../src/config/step-functions.ts'
import { compileExpression } from '../../../src/expressions/compile-expression.ts'
import { JsonFields } from '../../../src/serdes/json-fields.ts'
import { json } from '../../../src/serdes/json.ts'
import { string } from '../../../src/serdes/text.ts'
import { changelogBlock } from './engine-fakes.ts'
import { TaskBench } from './task-bench.ts'

describe('the queue of a partition', () => {
  it('reads text where it lies in a fetched batch, key and value', () => {
    const seen: [string, string][] = []
    const bench = new TaskBench(builder => {
      builder.stream('in', { key: string, value: string }).foreach((value, key) => seen.push([key, value]))
    })
    const records = [
      { offset: 0, key: 'k', value: Buffer.from('first') },
      { offset: 1, key: 'schlüssel', value: Buffer.from('zweiter Wert ü') },
      { offset: 2, key: '', value: Buffer.alloc(0) },
    ]
    bench.task.enqueue('in', changelogBlock({ topic: 'in', partition: 3 }, records).cursor)
    expect(bench.task.process(9)).to.equal(3)
    expect(seen).to.deep.equal(records.map(({ key, value }) => [key, value.toString()]))
  })

  it('reads fields of JSON where it lies in a fetched batch, of each record its own', () => {
    const seen: (readonly [boolean, unknown])[] = []
    const bench = new TaskBench(builder => {
      const expression = compileExpression('[value.id, value.n, value.?at]', new Set(['value']))
      const look = mapper(expression)
      builder.stream('orders', { key: string, value: json() }).foreach(
        withReads(expression, (value, _key, record) => {
          seen.push([value instanceof JsonFields, look(value, null, record)])
        }),
      )
    })
    const values = ['{"id":"a","n":1}', '{"id":"b","n":2}', '{"id":"twelve-and-more","n":-3,"at":{"x":"é"}}']
    const records = values.map((value, offset) => ({ offset, key: 'k', value: Buffer.from(value) }))
    bench.task.enqueue('orders', changelogBlock({ topic: 'orders', partition: 3 }, records).cursor)
    const more = [...records, ...records].map((record, at) => ({ ...record, offset: at + 3 }))
    bench.task.enqueue('orders', changelogBlock({ topic: 'orders', partition: 3 }, more).cursor)
    expect(bench.task.process(9)).to.equal(9)
    const wanted = [
      ['a', 1, null],
      ['b', 2, null],
      ['twelve-and-more', -3, { x: 'é' }],
    ]
    expect(seen.map(([, fields]) => fields)).to.deep.equal([...wanted, ...wanted, ...wanted])
    expect(
      seen.slice(-3).map(([isUnmade]) => isUnmade),
      'no object is made',
    ).to.deep.equal([true, true, true])
  })
})
