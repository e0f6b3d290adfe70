import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import type { ActiveTask } from '../../../src/engine/active-task.ts'
import { InputFailures } from '../../../src/engine/input-failures.ts'
import { string } from '../../../src/serdes/text.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { FakeFetcher, FakeLogs, processed, TaskRoom } from './engine-fakes.ts'
import { FedBlock } from './task-bench.ts'

const IN: TopicPartition = { topic: 'in', partition: 0 }
const MORE: TopicPartition = { topic: 'more', partition: 0 }

function merging(onOutOfRange: 'fail' | 'earliest' | 'latest'): (builder: StreamsBuilder) => void {
  return builder => {
    builder
      .stream('in', { key: string, value: string, onOutOfRange })
      .merge(builder.stream('more', { key: string, value: string }))
      .to('out')
  }
}

class FailureBench {
  readonly fetcher = new FakeFetcher()
  readonly logs = new FakeLogs()
  readonly restarted: TopicPartition[] = []
  readonly changelogs = new Set<string>()
  readonly room: TaskRoom
  readonly task: ActiveTask
  readonly failures: InputFailures

  constructor(onOutOfRange: 'fail' | 'earliest' | 'latest') {
    this.room = new TaskRoom(merging(onOutOfRange))
    const [task] = this.room.running([IN, MORE], 10)
    if (task === undefined) throw new Error('there is no task')
    this.task = task
    for (const partition of [IN, MORE]) this.fetcher.add(partition, { offset: 10 })
    this.failures = new InputFailures({
      admin: this.logs,
      fetcher: this.fetcher,
      logger: SILENT_LOGGER,
      registry: this.room.registry,
      globals: { reads: () => false, restart: () => Promise.resolve() },
      restorer: {
        reads: ({ topic }) => this.changelogs.has(topic),
        restart: partition => {
          this.restarted.push(partition)
          return Promise.resolve()
        },
      },
      commit: () => {
        this.task.committed(input => this.task.positionOf(input), 1)
        return Promise.resolve()
      },
    })
  }

  fail(topicPartition: TopicPartition, error = new MillraceError('OFFSET_OUT_OF_RANGE')): Promise<void> {
    this.fetcher.failures.push({ topicPartition, error })
    return this.failures.handle()
  }
}

describe('input failures', () => {
  it('stops where records were deleted before they were processed, naming partition, offset and task', async () => {
    const bench = new FailureBench('fail')
    const { code, details } = await rejectionOf(bench.fail(IN))

    expect(code).to.equal('OFFSET_OUT_OF_RANGE')
    expect([details.topic, details.partition, details.offset, details.task]).to.deep.equal(['in', 0, 10, '0_0'])
  })

  it('commits what was read and goes on at the beginning of the log where the policy says so', async () => {
    const bench = new FailureBench('earliest')
    processed(bench.task, 'in', [{ key: 'k', value: 'v', offset: 10 }])
    bench.logs.earliest.set(IN, 40)
    await bench.fail(IN)

    expect(bench.fetcher.positions.get(IN)).to.equal(40)
    expect(bench.task.inputs.map(({ committed, rewindTo }) => [committed, rewindTo])).to.deep.equal([
      [11, 40],
      [10, 10],
    ])
    expect(bench.task.owesCommit).to.equal(false)
  })

  it('goes on at the end of what may be read where the policy says so', async () => {
    const bench = new FailureBench('latest')
    bench.logs.latest.set(IN, 50)
    await bench.fail(IN)

    expect(bench.fetcher.positions.get(IN)).to.equal(50)
    expect(bench.logs.asked).to.deep.equal(['latest read_committed'])
  })

  it('loses nothing that was fetched of the task’s other inputs', async () => {
    const bench = new FailureBench('earliest')
    bench.logs.earliest.set(IN, 40)
    // Fetched and queued, not processed: the fetcher stands behind it.
    bench.task.task.enqueue('more', new FedBlock([{ value: 'kept', offset: 10 }]))
    bench.fetcher.seek(MORE, 11)
    await bench.fail(IN)

    const isRead = bench.task.task.process(10) === 1 || bench.fetcher.positions.get(MORE) === 10
    expect(isRead, 'the record is still queued, or fetched again').to.equal(true)
  })

  it('restores a store again whose changelog was cut off', async () => {
    const bench = new FailureBench('fail')
    bench.changelogs.add('log')
    await bench.fail({ topic: 'log', partition: 0 })

    expect(bench.restarted).to.deep.equal([{ topic: 'log', partition: 0 }])
  })

  it('ignores a partition that was taken away meanwhile', async () => {
    const bench = new FailureBench('fail')
    await bench.fail({ topic: 'in', partition: 7 })

    expect(bench.fetcher.positions.get(IN)).to.equal(10)
  })

  it('stops for any other failure', async () => {
    const bench = new FailureBench('latest')

    expect((await rejectionOf(bench.fail(IN, new MillraceError('TOPIC_RECREATED')))).code).to.equal('TOPIC_RECREATED')
  })
})
