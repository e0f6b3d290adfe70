import { expect } from 'chai'
import { type Profile, stepsOf } from '../../../bench/profile.ts'

/** A profile in which each place was seen so many times in a row, one microsecond each. */
function aProfile(seen: readonly (readonly [functionName: string, url: string, times: number])[]): Profile {
  return {
    nodes: seen.map(([functionName, url], id) => ({ id, callFrame: { functionName, url, lineNumber: 1 } })),
    samples: seen.flatMap(([, , times], id) => Array.from({ length: times }, () => id)),
    timeDeltas: seen.flatMap(([, , times]) => Array.from({ length: times }, () => 1)),
  }
}

describe('the steps of a profile', () => {
  it('are told from where the code lies, the largest first', () => {
    const steps = stepsOf(
      aProfile([
        ['(garbage collector)', '', 100],
        ['append', 'file:///app/build/src/kafka/records/record-batch-writer.js', 50],
        ['next', 'file:///app/build/src/kafka/records/record-cursor.js', 30],
        ['put', 'file:///app/build/src/stores/memory-key-value-store.js', 15],
        ['writev', '', 5],
      ]),
    )
    expect(steps.map(({ name, share }) => [name, share])).to.deep.equal([
      ['encode: append to batches', 0.5],
      ['decode: walk fetched batches', 0.3],
      ['stores and undo log', 0.15],
      ['sockets and event loop (Node, kernel)', 0.05],
    ])
  })

  it('leave out the first half, and all waiting', () => {
    const [step, ...others] = stepsOf(
      aProfile([
        ['compileFunction', '', 40],
        ['(idle)', '', 1_000],
        ['process', 'file:///app/build/src/engine/stream-task.js', 40],
      ]),
    )
    expect(others).to.deep.equal([])
    expect(step?.name).to.equal('task: queues, savepoints, positions')
    expect(step?.share).to.equal(1)
    expect(step?.functions).to.deep.equal([{ name: 'src/engine/stream-task.js process', share: 1 }])
  })
})
