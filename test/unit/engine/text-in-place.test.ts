import { expect } from 'chai'
import { string } from '../../../src/serdes/text.ts'
import { borrowedBlock } from '../../support/borrowed-block.ts'
import { textJoiner } from '../../support/text-steps.ts'
import { TaskBench } from './task-bench.ts'

const TEXT = { key: string, value: string }

/** The bytes that a join of texts writes for values that lie in a fetch answer. */
function joined(join: string, values: readonly (string | Uint8Array)[], right = 'R'): readonly unknown[] {
  const bench = new TaskBench(b => {
    const names = b.table('names', TEXT)
    b.stream('in', TEXT).leftJoin(names, textJoiner(join)).to('out', { value: string })
  })
  bench.feed('names', [{ key: 'k', value: right }])
  bench.task.process(1)
  const records = values.map((value, offset) => ({ key: offset === 9 ? 'none' : 'k', value, timestamp: 10, offset }))
  bench.task.enqueue('in', borrowedBlock('in', records))
  bench.task.process(100)
  return bench.collector.sent.filter(({ topic }) => topic === 'out').map(({ value }) => value)
}

/** Texts as the JVM writes them. */
function written(...texts: readonly string[]): readonly Buffer[] {
  return texts.map(text => Buffer.from(text))
}

describe('texts of a record that a join puts beside those of a table', () => {
  it('are written as the sum of both', () => {
    expect(joined('left + right', ['', 'a', 'abcd', 'abcde'])).to.deep.equal(written('R', 'aR', 'abcdR', 'abcdeR'))
    expect(joined('right + "/" + left + "/" + left', ['ab'])).to.deep.equal(written('R/ab/ab'))
  })

  it('may be other than ASCII, long, or no UTF-8 at all', () => {
    const long = 'x'.repeat(600)
    expect(joined('left + right', ['é', '😀', long, Buffer.from([0x61, 0xff, 0x62])])).to.deep.equal(
      written('éR', '😀R', `${long}R`, 'a\ufffdbR'),
    )
    expect(joined('left + right', ['a', 'é'], 'ü')).to.deep.equal(written('aü', 'éü'))
  })

  it('fail as strings do where the other side is none', () => {
    const values = Array.from({ length: 10 }, () => 'a')
    expect(() => joined('left + right', values)).to.throw('null')
  })
})
