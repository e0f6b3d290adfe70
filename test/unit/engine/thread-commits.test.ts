import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import type { ActiveTask } from '../../../src/engine/active-task.ts'
import { AssignmentClaims } from '../../../src/engine/assignment-claims.ts'
import { CommitSchedule } from '../../../src/engine/commit-schedule.ts'
import type { CommitOutcome } from '../../../src/engine/commit-strategy.ts'
import { RepartitionPurge } from '../../../src/engine/repartition-purge.ts'
import { ThreadCommits } from '../../../src/engine/thread-commits.ts'
import { ThreadMetrics } from '../../../src/engine/thread-metrics.ts'
import { string } from '../../../src/serdes/text.ts'
import { ManualClock, settle } from '../../support/manual-clock.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { Answers, FakeProducer, processed, TaskRoom } from './engine-fakes.ts'

const IN: TopicPartition = { topic: 'in', partition: 0 }
const REPARTITION: TopicPartition = { topic: 'app-keyed-repartition', partition: 2 }

class CommitsBench {
  readonly clock = new ManualClock()
  readonly producer = new FakeProducer()
  readonly claims = new AssignmentClaims()
  readonly metrics = new ThreadMetrics(SILENT_LOGGER)
  readonly reasons: string[] = []
  readonly records: number[] = []
  readonly purged: (readonly (readonly [string, number, number])[])[] = []
  outcomes = new Answers<CommitOutcome>('committed')
  aborts = new Answers<'done'>('done')
  forgotten = 0
  /** How long a commit takes, in ms. */
  took = 0
  readonly #schedule = new CommitSchedule({ intervalMs: 100, ageMaxMs: 5_000, bytesMax: 1_000 }, this.clock.nowMs())
  readonly tasks: readonly ActiveTask[]
  readonly commits: ThreadCommits

  constructor() {
    const room = new TaskRoom(builder => {
      builder
        .stream('in', { key: string, value: string })
        .selectKey(value => value)
        .repartition({ name: 'keyed', key: string, value: string })
        .to('out')
    })
    this.tasks = room.running([IN, REPARTITION], 10)
    const { clock } = this
    this.commits = new ThreadCommits({
      clock,
      strategy: {
        guarantee: 'exactly_once_v2',
        admit: () => undefined,
        commit: async reason => {
          this.reasons.push(reason)
          await this.clock.advance(this.took)
          return this.outcomes.next()
        },
        abort: async () => {
          await Promise.resolve()
          this.aborts.next()
        },
      },
      schedule: this.#schedule,
      claims: this.claims,
      purge: new RepartitionPurge(
        {
          admin: {
            deleteRecords: offsets => {
              this.purged.push(Array.from(offsets, ([{ topic, partition }, offset]) => [topic, partition, offset]))
              return Promise.resolve(offsets)
            },
          },
          logger: SILENT_LOGGER,
          intervalMs: 1_000,
        },
        clock.nowMs(),
      ),
      metrics: this.metrics,
      producer: this.producer,
      commitMsMax: 10_000,
      running: () => this.tasks,
      onCommit: records => this.records.push(records),
      onForgotten: () => {
        this.forgotten += 1
      },
    })
  }

  /** How long a thread that has read everything waits for its next commit. */
  untilNextMs(): number {
    return this.#schedule.nextMs(true) - this.clock.nowMs()
  }

  read(): this {
    const [task] = this.tasks
    if (task === undefined) throw new Error('there is no task')
    processed(task, 'in', [{ key: 'k', value: 'v', offset: 10 }])
    this.commits.workBegins()
    this.commits.processed(1)
    return this
  }
}

describe('commits of a thread', () => {
  it('happen when the interval is over and there is something to commit', async () => {
    const bench = new CommitsBench()
    await bench.clock.advance(100)
    await bench.commits.commitIfDue(false)
    expect([bench.commits.hasUncommittedWork, bench.reasons]).to.deep.equal([false, []])
    bench.read()
    await bench.commits.commitIfDue(false)
    expect([bench.commits.hasUncommittedWork, bench.reasons]).to.deep.equal([true, []])
    await bench.clock.advance(100)
    await bench.commits.commitIfDue(false)

    expect(bench.reasons).to.deep.equal(['interval'])
    expect(bench.records).to.deep.equal([1])
  })

  it('happen early for a transaction that has become large', async () => {
    const bench = new CommitsBench()
    bench.producer.ongoing = true
    bench.producer.bytes = 1_000
    await bench.commits.commitIfDue(false)

    expect(bench.reasons).to.deep.equal(['size'])
  })

  for (const code of ['REQUEST_TIMED_OUT', 'TRANSACTION_TIMED_OUT'] as const) {
    it(`happen after half as many records when a transaction ran out of time (${code})`, async () => {
      const bench = new CommitsBench()
      bench.commits.processed(120)
      expect(bench.commits.recordsLeft).to.equal(Number.POSITIVE_INFINITY)
      await bench.commits.abort(new MillraceError(code))
      expect(bench.commits.recordsLeft).to.equal(60)
      bench.read()
      bench.commits.processed(58)
      await bench.commits.commitIfDue(false)
      expect(bench.reasons).to.deep.equal([])
      bench.commits.processed(1)
      await bench.commits.commitIfDue(false)
      expect(bench.reasons).to.deep.equal(['size'])
      expect(bench.commits.recordsLeft, 'it was quick: the next may be larger').to.equal(120)
    })
  }

  it('have no bound of records after a failure that has nothing to do with time', async () => {
    const bench = new CommitsBench()
    bench.commits.processed(120)
    await bench.commits.abort(new MillraceError('TRANSACTION_ABORTED'))
    expect(bench.commits.recordsLeft).to.equal(Number.POSITIVE_INFINITY)
  })

  it('remember the assignment their work began under, until they end (I5)', async () => {
    const bench = new CommitsBench()
    expect(bench.commits.workEpoch).to.equal(undefined)
    bench.commits.workBegins()
    bench.claims.changed([IN])
    bench.commits.workBegins()
    expect(bench.commits.workEpoch).to.equal(0)
    await bench.commits.commit('interval')
    bench.commits.workBegins()

    expect(bench.commits.workEpoch).to.equal(1)
  })

  it('tell of the records they cover, each once', async () => {
    const bench = new CommitsBench().read().read()
    await bench.commits.commit('interval')
    bench.read()
    await bench.commits.commit('interval')

    expect(bench.records).to.deep.equal([2, 1])
  })

  it('tell nothing of a commit that did nothing', async () => {
    const bench = new CommitsBench()
    bench.outcomes = new Answers<CommitOutcome>('nothing')
    await bench.commits.commit('rebalance')

    expect(bench.records).to.deep.equal([])
  })

  it('learn nothing from a commit that did nothing about how long one takes', async () => {
    const bench = new CommitsBench()
    bench.outcomes = new Answers<CommitOutcome>('committed', 'nothing')
    bench.took = 20
    await bench.commits.commit('interval')
    const untilNextMs = bench.untilNextMs()
    bench.took = 0
    for (let count = 0; count < 10; count += 1) await bench.commits.commit('rebalance')

    expect(untilNextMs).to.be.below(80)
    expect(bench.untilNextMs()).to.equal(untilNextMs + 20)
  })

  it('keep their records when they fail, and lose them with an abort', async () => {
    const bench = new CommitsBench().read()
    bench.outcomes = new Answers<CommitOutcome>(new MillraceError('TRANSACTION_ABORTED'), 'committed')
    const failure = await rejectionOf(bench.commits.commit('interval'))
    expect(bench.commits.workEpoch).to.equal(0)
    await bench.commits.abort(failure)
    expect(bench.forgotten, 'the next attempt has another number').to.equal(1)
    expect(bench.commits.workEpoch).to.equal(undefined)
    await bench.commits.commit('interval')

    expect(bench.records).to.deep.equal([0])
  })

  it('purge repartition topics up to what is committed, now and then, and nothing else', async () => {
    const bench = new CommitsBench()
    await bench.commits.commit('interval')
    expect(bench.purged).to.deep.equal([])
    await bench.clock.advance(1_000)
    await bench.commits.commit('interval')
    await settle()
    expect(bench.purged).to.deep.equal([[['app-keyed-repartition', 2, 10]]])
    await bench.clock.advance(1_000)
    await bench.commits.commit('interval')

    expect(bench.purged, 'nothing new to delete').to.have.length(1)
  })
})
