import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import type { ProcessingGuarantee } from '../../../src/topology/properties.ts'
import type { ActiveTask } from '../../../src/engine/active-task.ts'
import { AssignmentClaims } from '../../../src/engine/assignment-claims.ts'
import type { CommitParts } from '../../../src/engine/commit-cycle.ts'
import { commitStrategyOf } from '../../../src/engine/commit-strategies.ts'
import type { CommitStrategy } from '../../../src/engine/commit-strategy.ts'
import { InputRewinder } from '../../../src/engine/input-rewinder.ts'
import { string } from '../../../src/serdes/text.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { Answers, FakeFetcher, FakeMember, FakeOffsets, FakeProducer, processed, TaskRoom } from './engine-fakes.ts'
import { FedBlock } from './task-bench.ts'

const IN: TopicPartition = { topic: 'in', partition: 0 }

class StrategyBench {
  readonly clock = new ManualClock()
  readonly producer = new FakeProducer()
  readonly member = new FakeMember()
  readonly offsets = new FakeOffsets()
  readonly fetcher = new FakeFetcher()
  readonly task: ActiveTask
  readonly strategy: CommitStrategy

  constructor(guarantee: ProcessingGuarantee) {
    const [task] = new TaskRoom(builder => {
      builder.stream('in', { key: string, value: string }).to('out')
    }).running([IN], 10)
    if (task === undefined) throw new Error('there is no task')
    this.task = task
    this.fetcher.add(IN, { offset: 10 })
    const claims = new AssignmentClaims()
    claims.changed([IN])
    const parts: CommitParts = {
      applicationId: 'app',
      clock: this.clock,
      producer: this.producer,
      member: this.member,
      offsets: this.offsets,
      claims,
      logger: SILENT_LOGGER,
      stopRequested: () => false,
      stepTimeoutMs: () => 1_000,
      tasks: () => [task],
      resolveTopic: topic => Promise.reject(new Error(`nobody looks up ${topic}`)),
      nextTransaction: () => 1,
      workEpoch: () => undefined,
    }
    this.strategy = commitStrategyOf(guarantee, parts, new InputRewinder(this.fetcher))
  }

  read(): this {
    processed(this.task, 'in', [{ key: 'k', value: 'v', offset: 10 }])
    this.fetcher.seek(IN, 30)
    return this
  }

  committed(): readonly (number | undefined)[] {
    return [this.task.inputs[0]?.committed, this.task.positionOf(this.#input())]
  }

  #input(): ActiveTask['inputs'][number] {
    const [input] = this.task.inputs
    if (input === undefined) throw new Error('there is no input')
    return input
  }
}

for (const guarantee of ['exactly_once_v2', 'at_least_once'] as const) {
  describe(`commit strategy ${guarantee}`, () => {
    it('goes back to what is committed at an abort, reading position and queue with it', async () => {
      const bench = new StrategyBench(guarantee).read()
      bench.task.task.enqueue('in', new FedBlock([{ key: 'k', value: 'w', offset: 11 }]))
      await bench.strategy.abort(new MillraceError('TRANSACTION_ABORTED'))

      expect(bench.producer.calls).to.deep.equal(['abort'])
      expect(bench.fetcher.positions.get(IN)).to.equal(10)
      expect(bench.task.task.queued('in')).to.equal(false)
      expect([bench.committed(), bench.task.owesCommit]).to.deep.equal([[10, 10], false])
    })

    it('goes back nowhere while the producer could not abort', async () => {
      const bench = new StrategyBench(guarantee).read()
      bench.producer.aborts = new Answers<'done'>(new MillraceError('REQUEST_TIMED_OUT'))
      await rejectionOf(bench.strategy.abort(new MillraceError('TRANSACTION_ABORTED')))

      expect(bench.fetcher.positions.get(IN)).to.equal(30)
      expect(bench.committed()).to.deep.equal([10, 11])
    })

    it('gives no offsets away before records are processed', () => {
      const block = { topicPartition: IN, endOffset: 12 }
      expect(new StrategyBench(guarantee).strategy.admit([block])).to.equal(undefined)
    })
  })
}

describe('commit strategy at_least_once', () => {
  it('commits offsets after everything is acknowledged', async () => {
    const bench = new StrategyBench('at_least_once').read()

    expect(await bench.strategy.commit('interval')).to.equal('committed')
    expect(bench.producer.calls).to.deep.equal(['flush'])
    expect(bench.offsets.commits[0]?.get(IN)?.offset).to.equal(11)
    expect(bench.committed()).to.deep.equal([11, 11])
  })

  it('commits no offsets of outputs that were not acknowledged', async () => {
    const bench = new StrategyBench('at_least_once').read()
    bench.producer.flushes = new Answers<'done'>(new MillraceError('REQUEST_TIMED_OUT'))
    await rejectionOf(bench.strategy.commit('interval'))

    expect(bench.offsets.commits).to.deep.equal([])
    expect(bench.committed()).to.deep.equal([10, 11])
  })

  it('sends nothing where nothing was read', async () => {
    const bench = new StrategyBench('at_least_once')

    expect(await bench.strategy.commit('interval')).to.equal('nothing')
    expect(bench.offsets.commits).to.deep.equal([])
  })

  it('waits a rebalance out, and no longer than a step may take', async () => {
    const bench = new StrategyBench('at_least_once').read()
    bench.offsets.commitAnswers = new Answers<'done' | 'rebalancing'>('rebalancing', 'rebalancing', 'done')
    const commit = bench.strategy.commit('interval')
    await bench.clock.advance(100)
    expect(await commit).to.equal('committed')

    bench.read()
    bench.offsets.commitAnswers = new Answers<'done' | 'rebalancing'>('rebalancing')
    const failed = rejectionOf(bench.strategy.commit('interval'))
    await bench.clock.advance(2_000)
    expect((await failed).code).to.equal('REQUEST_TIMED_OUT')
  })

  it('stops without a membership', async () => {
    const bench = new StrategyBench('at_least_once').read()
    bench.member.membership = undefined

    expect((await rejectionOf(bench.strategy.commit('interval'))).code).to.equal('MEMBERSHIP_LOST')
  })
})

describe('commit strategy at_most_once', () => {
  it('gives the offsets of a block away before its records are processed', async () => {
    const bench = new StrategyBench('at_most_once')
    await bench.strategy.admit([{ topicPartition: IN, endOffset: 25 }])

    expect(bench.offsets.commits[0]?.get(IN)?.offset).to.equal(25)
    expect(bench.strategy.admit([])).to.equal(undefined)
  })

  it('processes nothing whose offsets could not be given away', async () => {
    const bench = new StrategyBench('at_most_once')
    bench.member.membership = undefined
    const admission = bench.strategy.admit([{ topicPartition: IN, endOffset: 25 }])

    expect((await rejectionOf(admission ?? Promise.resolve())).code).to.equal('MEMBERSHIP_LOST')
  })

  it('gives no offsets away at a commit, and never goes back', async () => {
    const bench = new StrategyBench('at_most_once').read()
    await bench.strategy.abort(new MillraceError('REQUEST_TIMED_OUT'))
    expect(bench.fetcher.positions.get(IN)).to.equal(30)
    expect(await bench.strategy.commit('interval')).to.equal('committed')

    expect(bench.offsets.commits).to.deep.equal([])
    expect(bench.committed()).to.deep.equal([11, 11])
  })

  it('processes what was given away before it stops', async () => {
    const bench = new StrategyBench('at_most_once')
    const records = Array.from({ length: 40 }, (_, at) => ({ key: 'k', value: 'v', offset: 10 + at }))
    bench.task.task.enqueue('in', new FedBlock(records))
    bench.task.task.process(1)
    await bench.strategy.commit('shutdown')

    expect(bench.task.task.queued('in')).to.equal(false)
    expect(bench.committed()).to.deep.equal([50, 50])
  })
})
