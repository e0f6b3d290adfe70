import { expect } from 'chai'
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
})
