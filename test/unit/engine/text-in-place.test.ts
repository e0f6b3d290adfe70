import { expect } from 'chai'
import { string } from '../../../src/serdes/text.ts'
import { borrowedBlock } from '../../support/borrowed-block.ts'
import { textJoiner } from '../../support/text-steps.ts'
import { TaskBench } from './task-bench.ts'

const TEXT = { key: string, value: string }

/** What a join of texts writes for values that lie in a fetch answer. */
function joined(join: string, values: readonly (string | Uint8Array)[], right = 'R'): readonly (string | null)[] {
  const bench = new TaskBench(b => {
    const names = b.table('names', TEXT)
    b.stream('in', TEXT).leftJoin(names, textJoiner(join)).to('out', { value: string })
  })
  bench.feed('names', [{ key: 'k', value: right }])
  bench.task.process(1)
  const records = values.map((value, offset) => ({ key: offset === 9 ? 'none' : 'k', value, timestamp: 10, offset }))
  bench.task.enqueue('in', borrowedBlock('in', records))
  bench.task.process(100)
  return bench.sent('out').map(([, value]) => value)
}

describe('texts of a record that a join puts beside those of a table', () => {
  it('are written as the sum of both', () => {
    expect(joined('left + right', ['', 'a', 'abcd', 'abcde'])).to.deep.equal(['R', 'aR', 'abcdR', 'abcdeR'])
    expect(joined('right + "/" + left + "/" + left', ['ab'])).to.deep.equal(['R/ab/ab'])
  })

  it('may be other than ASCII, long, or no UTF-8 at all', () => {
    const long = 'x'.repeat(600)
    expect(joined('left + right', ['é', '😀', long, Buffer.from([0x61, 0xff, 0x62])])).to.deep.equal([
      'éR',
      '😀R',
      `${long}R`,
      'a\ufffdbR',
    ])
    expect(joined('left + right', ['a', 'é'], 'ü')).to.deep.equal(['aü', 'éü'])
  })

  it('fail as strings do where the other side is none', () => {
    const values = Array.from({ length: 10 }, () => 'a')
    expect(() => joined('left + right', values)).to.throw('null')
  })
})
