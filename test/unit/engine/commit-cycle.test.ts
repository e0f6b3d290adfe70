import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import type { ActiveTask } from '../../../src/engine/active-task.ts'
import { AssignmentClaims } from '../../../src/engine/assignment-claims.ts'
import { runCommitCycle, type CommitParts } from '../../../src/engine/commit-cycle.ts'
import { readProgress } from '../../../src/engine/commit-offsets.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { Answers, FakeMember, FakeOffsets, FakeProducer, memberIn, processed, TaskRoom } from './engine-fakes.ts'

const P0: TopicPartition = { topic: 'in', partition: 0 }
const P1: TopicPartition = { topic: 'in', partition: 1 }

function copying(builder: StreamsBuilder): void {
  builder.stream('in', { key: string, value: string }).to('out')
}

function merging(builder: StreamsBuilder): void {
  builder
    .stream('in', { key: string, value: string })
    .merge(builder.stream('more', { key: string, value: string }))
    .to('out')
}

/** Counts that a cache holds back until the commit. */
function countingBehindCache(builder: StreamsBuilder): void {
  builder.stream('in', { key: string }).groupByKey().count({ store: 'counts' }).toStream().to('out', { value: long })
}

/** A thread with two tasks, as far as a commit sees it. */
class CommitBench {
  readonly clock = new ManualClock()
  readonly producer = new FakeProducer()
  readonly member = new FakeMember()
  readonly offsets = new FakeOffsets()
  readonly claims = new AssignmentClaims()
  readonly tasks: readonly ActiveTask[]
  readonly room: TaskRoom
  stopRequested = false
  workEpoch: number | undefined
  readonly parts: CommitParts

  constructor(
    define = copying,
    partitions: readonly TopicPartition[] = [P0, P1],
    properties: ConstructorParameters<typeof TaskRoom>[1] = {},
  ) {
    this.room = new TaskRoom(define, properties)
    this.tasks = this.room.running(partitions, 10)
    this.claims.changed(partitions)
    let transaction = 100
    this.parts = {
      applicationId: 'app',
      clock: this.clock,
      producer: this.producer,
      member: this.member,
      offsets: this.offsets,
      claims: this.claims,
      logger: SILENT_LOGGER,
      stopRequested: () => this.stopRequested,
      stepTimeoutMs: () => 1_000,
      tasks: () => this.tasks,
      resolveTopic: topic => Promise.reject(new Error(`nobody looks up ${topic}`)),
      nextTransaction: () => (transaction += 1),
      workEpoch: () => this.workEpoch,
    }
  }

  /** The tasks read on up to these offsets. */
  read(...ends: readonly number[]): this {
    for (const [at, end] of ends.entries()) {
      processed(this.#task(at), 'in', [{ key: 'k', value: 'v', offset: end - 1, timestamp: end }])
    }
    return this
  }

  /** What the group would hold after the transaction that was sent last. */
  commitSent(): void {
    for (const [partition, offset] of this.#sent()) this.offsets.committed.set(partition, offset)
  }

  sentOffsets(): readonly (readonly [string, number])[] {
    return Array.from(this.#sent(), ([{ topic, partition }, { offset }]) => [`${topic}-${String(partition)}`, offset])
  }

  committed(): readonly (number | undefined)[] {
    return this.tasks.flatMap(task => task.inputs.map(input => input.committed))
  }

  #sent(): Iterable<readonly [TopicPartition, { offset: number; leaderEpoch: number; metadata: string }]> {
    return this.producer.sent.at(-1)?.offsets ?? []
  }

  #task(at: number): ActiveTask {
    const task = this.tasks[at]
    if (task === undefined) throw new Error(`there is no task ${String(at)}`)
    return task
  }
}

/** Two tasks whose EndTxn is about to get no answer. */
function anUnknownCommit(): CommitBench {
  const bench = new CommitBench().read(12, 22)
  bench.producer.commits = new Answers<'committed' | 'unknown'>('unknown')
  for (const { inputs } of bench.tasks) {
    for (const { topicPartition } of inputs) {
      bench.offsets.committed.set(topicPartition, { offset: 10, leaderEpoch: -1, metadata: '' })
    }
  }
  return bench
}

describe('commit cycle', () => {
  it('flushes, sends offsets and ends the transaction, in this order', async () => {
    const bench = new CommitBench().read(12)

    expect(await runCommitCycle(bench.parts)).to.equal('committed')
    expect(bench.producer.calls).to.deep.equal(['flush', 'sendOffsets', 'endTxn'])
    expect(bench.sentOffsets()).to.deep.equal([['in-0', 12]])
    expect(bench.committed()).to.deep.equal([12, 10])
  })

  it('has what caches hold back written before it waits for acknowledgements', async () => {
    const bench = new CommitBench(countingBehindCache, [P0], { 'statestore.cache.max.bytes': 1_000_000 }).read(12)
    const { sent } = bench.room.collector
    expect(sent).to.deep.equal([])
    let atFlush: readonly string[] = []
    bench.producer.whileFlushing = () => {
      atFlush = sent.map(({ topic }) => topic)
    }

    expect(await runCommitCycle(bench.parts)).to.equal('committed')
    expect(atFlush).to.have.members(['app-counts-changelog', 'out'])
    expect(sent).to.have.lengthOf(2)
  })

  it('sends nothing when nothing was read and nothing written', async () => {
    const bench = new CommitBench()

    expect(await runCommitCycle(bench.parts)).to.equal('nothing')
    expect(bench.producer.calls).to.deep.equal(['flush'])
  })

  it('commits a position that only markers have moved, so that the lag gets to 0', async () => {
    const bench = new CommitBench()
    for (const task of bench.tasks.slice(0, 1)) processed(task, 'in', [], 13)

    expect(await runCommitCycle(bench.parts)).to.equal('committed')
    expect(bench.sentOffsets()).to.deep.equal([['in-0', 13]])
  })

  it('refuses a transaction that holds records and no offsets (I5)', async () => {
    const bench = new CommitBench()
    bench.producer.ongoing = true

    const refused = await runCommitCycle(bench.parts).catch((error: unknown) => error)
    expect(String(refused)).to.include('I5 fencing')
    expect(bench.producer.calls).to.deep.equal(['flush'])
  })

  it('names every source partition of a task that read on, those that stood still too', async () => {
    const bench = new CommitBench(merging, [P0, { topic: 'more', partition: 0 }]).read(12)
    await runCommitCycle(bench.parts)

    expect(bench.sentOffsets()).to.deep.equal([
      ['in-0', 12],
      ['more-0', 10],
    ])
  })

  it('commits the partition time and a number that no other transaction has', async () => {
    const bench = new CommitBench().read(12)
    await runCommitCycle(bench.parts)
    const first = [...(bench.producer.sent[0]?.offsets.values() ?? [])]
    bench.read(14)
    await runCommitCycle(bench.parts)
    const second = [...(bench.producer.sent[1]?.offsets.values() ?? [])]

    const progress = [...first, ...second].map(readProgress)
    expect(progress.map(({ transaction }) => transaction)).to.deep.equal([101, 102])
    expect(progress.map(({ partitionTime }) => partitionTime)).to.deep.equal([12, 14])
  })

  it('names the leader epoch of what was read, by which a cut-off log is noticed after a restart (KIP-320)', async () => {
    const bench = new CommitBench().read(12)
    for (const { inputs } of bench.tasks) for (const input of inputs) input.leaderEpoch = () => 7
    await runCommitCycle(bench.parts)

    const sent = [...(bench.producer.sent[0]?.offsets.values() ?? [])]
    expect(sent.map(({ leaderEpoch }) => leaderEpoch)).to.deep.equal([7])
  })

  it('leaves everything as it was when the flush fails', async () => {
    const bench = new CommitBench().read(12)
    bench.producer.flushes = new Answers<'done'>(new MillraceError('TRANSACTION_TIMED_OUT'))

    expect((await rejectionOf(runCommitCycle(bench.parts))).code).to.equal('TRANSACTION_TIMED_OUT')
    expect(bench.producer.calls).to.deep.equal(['flush'])
    expect(bench.committed()).to.deep.equal([10, 10])
  })

  it('takes over the positions that were sent, whatever is read while the answer is under way (I2)', async () => {
    const bench = new CommitBench().read(12)
    bench.producer.whileCommitting = () => bench.read(15)

    await runCommitCycle(bench.parts)
    expect(bench.committed()).to.deep.equal([12, 10])
  })

  it('refuses to commit a partition that was not claimed in the last join (I5)', async () => {
    const bench = new CommitBench().read(12)
    bench.claims.claim([P1])

    const refused = await runCommitCycle(bench.parts).catch((error: unknown) => error)
    expect(String(refused)).to.include('unclaimed="in-0"')
    expect(bench.producer.sent).to.have.length(0)
  })

  it('refuses to commit work that began under another assignment (I5)', async () => {
    const bench = new CommitBench().read(12)
    bench.workEpoch = bench.claims.epoch
    bench.claims.changed([P0, P1])

    const refused = await runCommitCycle(bench.parts).catch((error: unknown) => error)
    expect(String(refused)).to.include('workEpoch')
    expect(bench.producer.sent).to.have.length(0)
  })

  describe('when the group has another generation', () => {
    it('sends the same offsets again with the generation of the JoinGroup answer', async () => {
      const bench = new CommitBench().read(12)
      bench.producer.sends = new Answers<'done' | 'illegalGeneration'>('illegalGeneration', 'done')
      bench.member.joinOutstanding = true
      const commit = runCommitCycle(bench.parts)
      await bench.clock.advance(10)
      bench.member.membership = memberIn(2)
      await bench.clock.advance(10)

      expect(await commit).to.equal('committed')
      expect(bench.producer.sent.map(({ member }) => member.generationId)).to.deep.equal([1, 2])
      expect(bench.producer.sent[0]?.offsets).to.equal(bench.producer.sent[1]?.offsets)
      expect(bench.producer.calls).to.deep.equal(['flush', 'sendOffsets', 'sendOffsets', 'endTxn'])
    })

    it('gives up when no join of ours explains it', async () => {
      const bench = new CommitBench().read(12)
      bench.producer.sends = new Answers<'done' | 'illegalGeneration'>('illegalGeneration')

      expect((await rejectionOf(runCommitCycle(bench.parts))).code).to.equal('MEMBERSHIP_LOST')
      expect(bench.producer.calls).to.not.include('endTxn')
    })

    it('gives up when the join gets no answer before the deadline', async () => {
      const bench = new CommitBench().read(12)
      bench.producer.sends = new Answers<'done' | 'illegalGeneration'>('illegalGeneration')
      bench.member.joinOutstanding = true
      const failed = rejectionOf(runCommitCycle(bench.parts))
      await bench.clock.advance(1_100)

      expect((await failed).code).to.equal('MEMBERSHIP_LOST')
    })

    it('gives up when the new generation belongs to another member id', async () => {
      const bench = new CommitBench().read(12)
      bench.producer.sends = new Answers<'done' | 'illegalGeneration'>('illegalGeneration', 'done')
      bench.member.joinOutstanding = true
      const commit = rejectionOf(runCommitCycle(bench.parts))
      await bench.clock.advance(10)
      bench.member.membership = { ...memberIn(2), memberId: 'another' }
      bench.member.joinOutstanding = false
      await bench.clock.advance(10)

      expect((await commit).code).to.equal('MEMBERSHIP_LOST')
      expect(bench.producer.sent, 'what it owned before is no longer its own').to.have.length(1)
    })

    it('sends nothing without a membership', async () => {
      const bench = new CommitBench().read(12)
      bench.member.membership = undefined

      expect((await rejectionOf(runCommitCycle(bench.parts))).code).to.equal('MEMBERSHIP_LOST')
      expect(bench.producer.calls).to.deep.equal(['flush'])
    })
  })

  describe('when EndTxn gets no answer', () => {
    it('raises the epoch first and then believes our own number in the offsets (I10)', async () => {
      const bench = anUnknownCommit()
      bench.producer.whileCommitting = () => bench.commitSent()

      expect(await runCommitCycle(bench.parts)).to.equal('committed')
      expect(bench.producer.calls).to.deep.equal(['flush', 'sendOffsets', 'endTxn', 'refence'])
      expect(bench.offsets.fetches).to.equal(1)
      expect(bench.committed()).to.deep.equal([12, 22])
    })

    it('takes the offsets of the commit before as an abort', async () => {
      const bench = anUnknownCommit()

      expect((await rejectionOf(runCommitCycle(bench.parts))).code).to.equal('TRANSACTION_ABORTED')
      expect(bench.committed()).to.deep.equal([10, 10])
    })

    it('takes no offsets as an abort where there were none before', async () => {
      const bench = new CommitBench(copying, [P0])
      for (const task of bench.tasks) for (const input of task.inputs) input.committed = undefined
      bench.read(12)
      bench.producer.commits = new Answers<'committed' | 'unknown'>('unknown')

      expect((await rejectionOf(runCommitCycle(bench.parts))).code).to.equal('TRANSACTION_ABORTED')
    })

    it('takes anything else as a lost membership', async () => {
      const bench = anUnknownCommit()
      bench.offsets.committed.set(P0, { offset: 11, leaderEpoch: -1, metadata: '' })

      expect((await rejectionOf(runCommitCycle(bench.parts))).code).to.equal('MEMBERSHIP_LOST')
    })

    it('never believes one half of a commit', async () => {
      const bench = anUnknownCommit()
      bench.producer.whileCommitting = () => {
        bench.commitSent()
        bench.offsets.committed.set(P1, { offset: 10, leaderEpoch: -1, metadata: '' })
      }

      expect((await rejectionOf(runCommitCycle(bench.parts))).code).to.equal('MEMBERSHIP_LOST')
    })

    it('stops when another owner of the transactional id appeared', async () => {
      const bench = anUnknownCommit()
      bench.producer.refences = new Answers<'ours' | 'fenced'>('fenced')

      expect((await rejectionOf(runCommitCycle(bench.parts))).code).to.equal('PRODUCER_FENCED')
      expect(bench.offsets.fetches).to.equal(0)
    })

    it('goes on asking through an outage and aborts nothing meanwhile', async () => {
      const bench = anUnknownCommit()
      bench.producer.whileCommitting = () => bench.commitSent()
      bench.producer.refences = new Answers<'ours' | 'fenced'>(
        new MillraceError('BROKER_UNREACHABLE'),
        new MillraceError('REQUEST_TIMED_OUT'),
        'ours',
      )
      bench.offsets.failures.push(new MillraceError('CONNECTION_LOST'))
      const commit = runCommitCycle(bench.parts)
      await bench.clock.advance(60_000)

      expect(await commit).to.equal('committed')
      expect(bench.producer.calls).to.not.include('abort')
      expect(bench.producer.calls.filter(call => call === 'refence')).to.have.length(4)
    })

    it('goes on asking after a failure that would abort anything else: the offsets it would go back to may be old', async () => {
      const bench = anUnknownCommit()
      bench.producer.whileCommitting = () => bench.commitSent()
      bench.offsets.failures.push(new MillraceError('TRANSACTION_ABORTED'), new MillraceError('TRANSACTION_TIMED_OUT'))
      const commit = runCommitCycle(bench.parts)
      await bench.clock.advance(10_000)

      expect(await commit).to.equal('committed')
      expect(bench.committed()).to.deep.equal([12, 22])
    })

    it('leaves the question to the next start when the thread is to stop', async () => {
      const bench = anUnknownCommit()
      bench.producer.refences = new Answers<'ours' | 'fenced'>(new MillraceError('BROKER_UNREACHABLE'))
      bench.stopRequested = true

      expect((await rejectionOf(runCommitCycle(bench.parts))).code).to.equal('COMMIT_OUTCOME_UNKNOWN')
      expect(bench.producer.calls).to.not.include('abort')
    })

    it('stops at once where asking again cannot help', async () => {
      const bench = anUnknownCommit()
      bench.offsets.failures.push(new MillraceError('NOT_AUTHORIZED'))

      expect((await rejectionOf(runCommitCycle(bench.parts))).code).to.equal('NOT_AUTHORIZED')
    })
  })
})
