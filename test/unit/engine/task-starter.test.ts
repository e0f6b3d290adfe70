import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import type { ActiveTask } from '../../../src/engine/active-task.ts'
import { offsetsToCommit } from '../../../src/engine/commit-offsets.ts'
import { deferred } from '../../../src/engine/deferred.ts'
import { encodeOffsetMetadata } from '../../../src/engine/offset-metadata.ts'
import { TaskStarter } from '../../../src/engine/task-starter.ts'
import { string } from '../../../src/serdes/text.ts'
import type { OffsetReset } from '../../../src/topology/plan.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { ManualClock, settle } from '../../support/manual-clock.ts'
import { FakeLogs, FakeOffsets, processed, TaskRoom } from './engine-fakes.ts'

const P0: TopicPartition = { topic: 'in', partition: 0 }
const P1: TopicPartition = { topic: 'in', partition: 1 }

function copying(offsetReset: OffsetReset): (builder: StreamsBuilder) => void {
  return builder => {
    builder.stream('in', { key: string, value: string, offsetReset }).to('out')
  }
}

class StartBench {
  readonly clock = new ManualClock()
  readonly offsets = new FakeOffsets()
  readonly logs = new FakeLogs()
  readonly begun: string[] = []
  readonly restoreFailures: MillraceError[] = []
  readonly tasks: readonly ActiveTask[]
  readonly starter: TaskStarter
  wakes = 0

  constructor(offsetReset: OffsetReset = 'earliest', partitions: readonly TopicPartition[] = [P0, P1]) {
    this.tasks = new TaskRoom(copying(offsetReset)).registry.create(partitions)
    this.starter = new TaskStarter({
      offsets: this.offsets,
      admin: this.logs,
      restorer: {
        begin: task => {
          this.begun.push(task.id)
          const failure = this.restoreFailures.shift()
          return failure === undefined ? Promise.resolve() : Promise.reject(failure)
        },
      },
      clock: this.clock,
      logger: SILENT_LOGGER,
      stableOffsetsTimeoutMs: 1_000,
      onWake: () => {
        this.wakes += 1
      },
    })
  }

  async start(): Promise<this> {
    this.starter.start(this.tasks)
    await settle()
    return this
  }

  placed(): readonly boolean[] {
    return this.tasks.map(task => this.starter.isPlaced(task))
  }

  starts(): readonly number[] {
    return this.tasks.flatMap(task => task.inputs.map(input => input.rewindTo))
  }
}

describe('task starter', () => {
  it('goes on at the committed offsets, asked for once for all tasks', async () => {
    const bench = new StartBench()
    bench.offsets.committed.set(P0, { offset: 7, leaderEpoch: 3, metadata: '' })
    bench.offsets.committed.set(P1, { offset: 8, leaderEpoch: -1, metadata: 'by hand' })
    await bench.start()

    expect(bench.starts()).to.deep.equal([7, 8])
    expect(bench.tasks.map(({ inputs }) => inputs[0]?.leaderEpoch())).to.deep.equal([3, -1])
    expect([bench.offsets.fetches, bench.logs.asked.length, bench.wakes]).to.deep.equal([1, 0, 1])
    expect(bench.begun).to.deep.equal(['0_0', '0_1'])
    expect(bench.placed()).to.deep.equal([true, true])
  })

  it('takes over partition time, variables and the number of the transaction', async () => {
    const bench = new StartBench('earliest', [P0])
    const variables = new Map([
      ['seen', 5],
      ['millrace.txn', 77],
      ['millrace.offset', 7],
    ])
    const metadata = encodeOffsetMetadata({ partitionTime: 1_234, variables })
    bench.offsets.committed.set(P0, { offset: 7, leaderEpoch: -1, metadata })
    await bench.start()
    const [task] = bench.tasks

    expect(task?.inputs[0]?.committedTransaction).to.equal(77)
    expect(task?.task.partitionTime('in')).to.equal(1_234)
    expect(task?.task.streamTimeMs).to.equal(1_234)
    expect(task?.task.variables.declare('seen', 0, { kept: true }).value).to.equal(5)
  })

  it('ignores variables that belong to another offset: a JVM application carries foreign keys on', async () => {
    const bench = new StartBench('earliest', [P0])
    const variables = new Map([
      ['seen', 5],
      ['millrace.txn', 77],
      ['millrace.offset', 6],
    ])
    const metadata = encodeOffsetMetadata({ partitionTime: 1_234, variables })
    bench.offsets.committed.set(P0, { offset: 7, leaderEpoch: -1, metadata })
    await bench.start()
    const [task] = bench.tasks

    expect(task?.inputs[0]?.committedTransaction).to.equal(undefined)
    expect(task?.task.partitionTime('in')).to.equal(1_234)
    expect(task?.task.variables.declare('seen', 0, { kept: true }).value).to.equal(0)
  })

  it('reads back what a commit wrote', async () => {
    const [before] = new TaskRoom(copying('earliest')).running([P0])
    if (before === undefined) throw new Error('there is no task')
    before.task.variables.declare('seen', 0, { kept: true }).value = 9
    processed(before, 'in', [{ key: 'k', value: 'v', offset: 4, timestamp: 99 }])
    const bench = new StartBench('earliest', [P0])
    for (const [partition, offset] of offsetsToCommit([before], 3)) bench.offsets.committed.set(partition, offset)
    await bench.start()
    const [task] = bench.tasks

    expect(bench.starts()).to.deep.equal([5])
    expect(task?.task.partitionTime('in')).to.equal(99)
    expect(task?.task.variables.declare('seen', 0, { kept: true }).value).to.equal(9)
  })

  describe('where no offset is committed', () => {
    it('begins at the beginning of the log', async () => {
      const bench = new StartBench('earliest')
      bench.logs.earliest.set(P0, 30)
      bench.offsets.committed.set(P1, { offset: 8, leaderEpoch: -1, metadata: '' })
      await bench.start()

      expect(bench.starts()).to.deep.equal([30, 8])
      expect(bench.tasks[0]?.inputs[0]?.committed).to.equal(undefined)
      expect(bench.tasks[0]?.owesCommit).to.equal(false)
    })

    it('begins behind what is committed in the log', async () => {
      const bench = new StartBench('latest', [P0])
      bench.logs.latest.set(P0, 40)
      await bench.start()

      expect(bench.starts()).to.deep.equal([40])
      expect(bench.logs.asked).to.deep.equal(['latest read_committed'])
    })

    it('is no matter where the first offset of all is committed', async () => {
      const bench = new StartBench('latest', [P0])
      bench.logs.latest.set(P0, 40)
      bench.offsets.committed.set(P0, { offset: 0, leaderEpoch: -1, metadata: '' })
      await bench.start()

      expect([bench.starts(), bench.logs.asked]).to.deep.equal([[0], []])
    })

    it('begins that long ago, or at the end where nothing is that young', async () => {
      const bench = new StartBench({ byDuration: '1h' })
      bench.logs.atTime.set(P0, 20)
      bench.logs.latest.set(P1, 50)
      await bench.start()

      expect(bench.starts()).to.deep.equal([20, 50])
      expect(bench.logs.asked).to.deep.equal([
        `time ${String(bench.clock.wallClockMs() - 3_600_000)} read_uncommitted`,
        'latest read_committed',
      ])
    })

    it('stops under the policy none, naming the partition', async () => {
      const bench = await new StartBench('none', [P1]).start()
      const failure = bench.starter.takeFailure()

      expect(failure?.code).to.equal('COMMITTED_OFFSET_MISSING')
      expect([failure?.details.topic, failure?.details.partition]).to.deep.equal(['in', 1])
      expect(bench.starter.takeFailure()).to.equal(undefined)
      expect(bench.placed()).to.deep.equal([false])
    })
  })

  it('starts nothing of a task that was taken away while the offsets were asked for', async () => {
    const bench = new StartBench()
    const gate = deferred<void>()
    bench.offsets.gate = gate.promise
    await bench.start()
    bench.tasks[0]?.on('closed')
    gate.resolve()
    await settle()

    expect(bench.begun).to.deep.equal(['0_1'])
    expect(bench.placed()).to.deep.equal([false, true])
  })

  it('lets no task fail the thread that was taken away meanwhile', async () => {
    const bench = new StartBench('none', [P0])
    const gate = deferred<void>()
    bench.offsets.gate = gate.promise
    await bench.start()
    bench.tasks[0]?.on('closed')
    gate.resolve()
    await settle()

    expect(bench.starter.takeFailure()).to.equal(undefined)
  })

  it('tries again after an outage, for as long as it takes, and loses no task', async () => {
    const bench = new StartBench()
    bench.offsets.failures.push(new MillraceError('REQUEST_TIMED_OUT'), new MillraceError('CONNECTION_LOST'))
    bench.restoreFailures.push(new MillraceError('KAFKA_ERROR'))
    await bench.start()
    await bench.clock.advance(10_000)

    expect(bench.starter.takeFailure()).to.equal(undefined)
    expect(bench.placed()).to.deep.equal([true, true])
    expect(bench.begun).to.deep.equal(['0_0', '0_0', '0_1'])
  })

  it('ends its attempts when all of the tasks are taken away', async () => {
    const bench = new StartBench()
    bench.offsets.failures.push(new MillraceError('REQUEST_TIMED_OUT'))
    await bench.start()
    for (const task of bench.tasks) task.on('closed')
    await bench.clock.advance(10_000)

    expect(bench.offsets.fetches).to.equal(1)
    expect(bench.clock.timers).to.equal(0)
  })

  it('hands on what trying again cannot cure', async () => {
    const bench = new StartBench()
    bench.offsets.failures.push(new MillraceError('NOT_AUTHORIZED'))
    await bench.start()

    expect(bench.starter.takeFailure()?.code).to.equal('NOT_AUTHORIZED')
    expect(bench.wakes).to.equal(1)
  })
})
