import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { drain, release, type ShutdownParts } from '../../../src/engine/thread-shutdown.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { Answers, FakeProducer } from './engine-fakes.ts'

const STOP = { leaveGroup: true, timeoutMs: 1_000 }

class ShutdownBench {
  readonly clock = new ManualClock()
  readonly producer = new FakeProducer()
  readonly calls: string[] = []
  /** What commit and abort were told to keep to, in milliseconds. */
  readonly allowed: number[] = []
  leaveTimeoutMs = 0
  commit: () => Promise<void> = () => Promise.resolve()
  abort: () => Promise<void> = () => Promise.resolve()
  readonly parts: ShutdownParts = {
    clients: {
      producer: this.producer,
      member: {
        leave: timeoutMs => {
          this.leaveTimeoutMs = timeoutMs
          return this.#note('leave')
        },
        close: () => {
          this.calls.push('member closed')
        },
      },
      fetcher: { close: () => this.#note('fetcher closed') },
      cluster: { close: () => this.#note('cluster closed') },
    },
    clock: this.clock,
    logger: SILENT_LOGGER,
    allow: stepsMs => {
      this.allowed.push(stepsMs)
    },
    commit: () => {
      this.calls.push('commit')
      return this.commit()
    },
    abort: cause => {
      this.calls.push(`abort ${cause.code}`)
      return this.abort()
    },
    closeTasks: () => {
      this.calls.push('tasks closed')
    },
  }

  #note(call: string): Promise<void> {
    this.calls.push(call)
    return Promise.resolve()
  }
}

const LET_GO = ['member closed', 'fetcher closed', 'cluster closed']

describe('shutdown of a thread', () => {
  it('commits, closes its tasks, leaves the group and lets go of everything', async () => {
    const bench = new ShutdownBench()
    await drain(bench.parts, STOP, undefined)

    expect(bench.calls).to.deep.equal(['commit', 'tasks closed', 'leave', ...LET_GO])
    expect(bench.producer.calls).to.deep.equal(['close'])
  })

  it('keeps the place in the group of a given instance id', async () => {
    const bench = new ShutdownBench()
    await drain(bench.parts, { ...STOP, leaveGroup: false }, undefined)

    expect(bench.calls).to.not.include('leave')
  })

  it('aborts when the last commit fails', async () => {
    const bench = new ShutdownBench()
    bench.commit = () => Promise.reject(new MillraceError('TRANSACTION_TIMED_OUT'))
    await drain(bench.parts, STOP, undefined)

    expect(bench.calls.slice(0, 3)).to.deep.equal(['commit', 'abort TRANSACTION_TIMED_OUT', 'tasks closed'])
  })

  it('keeps time for the abort, for leaving and for letting go when the last commit uses up its share', async () => {
    const bench = new ShutdownBench()
    bench.commit = async () => {
      await bench.clock.advance(bench.allowed[0] ?? 0)
      throw new MillraceError('REQUEST_TIMED_OUT')
    }
    bench.abort = () => bench.clock.advance(bench.allowed[1] ?? 0)
    const startedMs = bench.clock.nowMs()
    await drain(bench.parts, STOP, undefined)

    const [commitMs = 0, abortMs = 0] = bench.allowed
    expect(commitMs).to.be.within(500, 700)
    expect(abortMs).to.be.within(150, 1_000 - commitMs - 50)
    expect(bench.leaveTimeoutMs).to.be.within(25, 1_000 - commitMs - abortMs - 10)
    expect(bench.clock.nowMs() - startedMs, 'less than all of it').to.be.lessThan(1_000)
    expect(bench.calls).to.deep.equal(['commit', 'abort REQUEST_TIMED_OUT', 'tasks closed', 'leave', ...LET_GO])
  })

  it('closes the connections under a last commit that keeps to no time, and runs no abort beside it', async () => {
    const bench = new ShutdownBench()
    bench.commit = () => new Promise(() => {})
    const drained = drain(bench.parts, STOP, undefined)
    await bench.clock.advance(999)
    await drained

    const closed = ['commit', 'cluster closed', 'tasks closed', 'leave']
    expect(bench.calls).to.deep.equal([...closed, ...LET_GO])
  })

  for (const state of ['committing', 'unknown'] as const) {
    it(`leaves a commit of which the outcome is not known to the next start (${state}, I10)`, async () => {
      const bench = new ShutdownBench()
      bench.producer.ongoing = true
      bench.producer.state = state
      bench.commit = () => Promise.reject(new MillraceError('COMMIT_OUTCOME_UNKNOWN'))
      await drain(bench.parts, STOP, undefined)
      expect(bench.calls).to.deep.equal(['commit', 'tasks closed', 'leave', ...LET_GO])

      await release(bench.parts, new MillraceError('COMMIT_OUTCOME_UNKNOWN'), STOP)
      expect(bench.producer.calls).to.deep.equal(['close', 'close'])
    })
  }

  it('never commits what was not recovered from', async () => {
    const bench = new ShutdownBench()
    await drain(bench.parts, STOP, new MillraceError('REQUEST_TIMED_OUT'))

    expect(bench.calls.slice(0, 2)).to.deep.equal(['abort REQUEST_TIMED_OUT', 'tasks closed'])
  })

  it('leaves no timer behind', async () => {
    const bench = new ShutdownBench()
    await drain(bench.parts, STOP, undefined)

    expect(bench.clock.timers).to.equal(0)
  })

  it('aborts what is open after a failure, so that readers are not held up, and leaves', async () => {
    const bench = new ShutdownBench()
    bench.producer.ongoing = true
    await release(bench.parts, new MillraceError('STORE_FULL'), STOP)

    expect(bench.producer.calls).to.deep.equal(['abort', 'close'])
    expect(bench.calls).to.deep.equal(['tasks closed', 'leave', ...LET_GO])
  })

  it('lets go of everything although the abort fails', async () => {
    const bench = new ShutdownBench()
    bench.producer.ongoing = true
    bench.producer.aborts = new Answers<'done'>(new MillraceError('BROKER_UNREACHABLE'))
    await release(bench.parts, new MillraceError('STORE_FULL'), STOP)

    expect(bench.calls.slice(-3)).to.deep.equal(LET_GO)
  })

  it('never leaves for a process that took its place: that would throw the newcomer out', async () => {
    const bench = new ShutdownBench()
    await release(bench.parts, new MillraceError('INSTANCE_ID_IN_USE'), STOP)

    expect(bench.calls).to.deep.equal(['tasks closed', ...LET_GO])
  })
})
