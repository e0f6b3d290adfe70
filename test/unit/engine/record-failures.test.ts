import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { string } from '../../../src/serdes/text.ts'
import { TaskBench } from './task-bench.ts'

const text = { key: string, value: string }

function failureOf(bench: TaskBench): MillraceError {
  try {
    bench.task.process(1)
  } catch (thrown) {
    if (thrown instanceof MillraceError) return thrown
    throw thrown
  }
  throw new Error('nothing was thrown')
}

describe('failures of a record', () => {
  it('stop the task where the policy function fails itself, and both are told', () => {
    const bench = new TaskBench(
      builder => {
        builder.stream('in', text).foreach(() => {
          throw new Error('it went wrong')
        })
      },
      {
        processing: () => {
          throw new Error('no policy')
        },
      },
    )
    bench.feed('in', [{ key: 'a', value: 'x' }])
    const error = failureOf(bench)

    expect(error.code).to.equal('PROCESSING_FAILED')
    expect(error.details).to.include({ offset: 0, reaction: 'stop' })
    expect(error.message).to.include('it went wrong').and.include('no policy')
  })

  it('are those of a processor that forwards a wrong time, and not of the source', () => {
    const bench = new TaskBench(
      builder => {
        builder
          .stream('in', text)
          .process({
            init:
              ({ forward }) =>
              record => {
                forward({ ...record, timestamp: -1 })
              },
          })
          .to('out')
      },
      { deserialization: 'skip' },
    )
    bench.feed('in', [{ key: 'a', value: 'x' }])
    const error = failureOf(bench)

    expect(error.code).to.equal('PROCESSING_FAILED')
    expect(error.details).to.include({ node: 'KSTREAM-PROCESSOR-0000000001', offset: 0 })
  })
})
