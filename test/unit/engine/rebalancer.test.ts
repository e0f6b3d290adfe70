import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { formatTopicPartition, type TopicPartition } from '../../../src/model/topic-partition.ts'
import type { ActiveTask } from '../../../src/engine/active-task.ts'
import { encodeUserData } from '../../../src/engine/assignment.ts'
import { AssignmentClaims } from '../../../src/engine/assignment-claims.ts'
import { Rebalancer } from '../../../src/engine/rebalancer.ts'
import { string } from '../../../src/serdes/text.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { Answers, FakeMember, memberIn, TaskRoom } from './engine-fakes.ts'

const PLAN = 'as-we-see-it'

function merging(builder: StreamsBuilder): void {
  builder
    .stream('in', { key: string, value: string })
    .merge(builder.stream('more', { key: string, value: string }))
    .to('out')
}

/** The partitions of the tasks with these numbers. */
function partitionsOf(...numbers: readonly number[]): TopicPartition[] {
  return numbers.flatMap(partition => ['in', 'more'].map(topic => ({ topic, partition })))
}

class RebalanceBench {
  readonly room = new TaskRoom(merging)
  readonly member = new FakeMember()
  readonly claims = new AssignmentClaims()
  readonly calls: string[] = []
  commits = new Answers<'done'>('done')
  fingerprints = new Answers<string>(PLAN)
  counts = new Answers<ReadonlyMap<string, number>>(
    new Map([
      ['in', 4],
      ['more', 4],
    ]),
  )
  grown = new Answers<boolean>(false)
  onCommit = (): void => {}
  rebalances = 0
  wakes = 0
  readonly rebalancer = new Rebalancer({
    member: this.member,
    registry: this.room.registry,
    claims: this.claims,
    logger: SILENT_LOGGER,
    processId: 'p',
    firstJoin: 41,
    fingerprint: () => this.#answer('fingerprint', this.fingerprints),
    partitionCounts: async () => {
      await Promise.resolve()
      return this.counts.next()
    },
    growth: { look: () => this.grown.next() },
    commit: async () => {
      await this.#answer('commit', this.commits)
      this.onCommit()
    },
    abort: async cause => {
      await this.#answer(`abort ${cause.code}`, new Answers<'done'>('done'))
    },
    open: tasks => {
      this.calls.push(`open ${ids(tasks)}`)
    },
    close: task => {
      this.calls.push(`close ${task.id}`)
      this.room.registry.remove(task)
    },
    onWake: () => {
      this.wakes += 1
    },
    onRebalance: () => {
      this.rebalances += 1
    },
  })

  /** The group assigns these tasks. */
  assign(
    partitions: readonly TopicPartition[],
    {
      plan = PLAN,
      lost = [],
      shutdown = false,
    }: { readonly plan?: string; readonly lost?: readonly TopicPartition[]; readonly shutdown?: boolean } = {},
  ): this {
    this.member.events.push({
      type: 'assigned',
      membership: memberIn(2),
      partitions,
      userData: encodeUserData({
        version: 1,
        plan,
        lost: lost.map(({ topic, partition }) => [topic, partition]),
        shutdown,
      }),
    })
    return this
  }

  async applied(): Promise<readonly string[]> {
    expect(await this.rebalancer.apply()).to.equal(undefined)
    return this.calls.splice(0)
  }

  tasks(): string {
    return ids(this.room.registry.all())
  }

  owned(join = -1): readonly string[] | undefined {
    return this.member.joins.at(join)?.owned.map(formatTopicPartition)
  }

  async #answer<T>(call: string, answers: Answers<T>): Promise<T> {
    this.calls.push(call)
    await Promise.resolve()
    return answers.next()
  }
}

function ids(tasks: readonly ActiveTask[]): string {
  return tasks.map(task => task.id).join(' ')
}

/** A thread that owns these tasks and has compared its plan. */
async function owning(...numbers: readonly number[]): Promise<RebalanceBench> {
  const bench = new RebalanceBench().assign(partitionsOf(...numbers))
  await bench.applied()
  return bench
}

describe('rebalancer', () => {
  it('commits and joins again when an input has more partitions than the group knows', async () => {
    const bench = await owning(1)
    bench.grown = new Answers(true, false)

    expect(await bench.applied()).to.deep.equal(['commit'])
    expect(bench.owned()).to.deep.equal(['in-1', 'more-1'])
    expect(bench.member.joins).to.have.lengthOf(1)
  })

  it('joins with what it owns, with bytes of its own each time', async () => {
    const bench = await owning(1)
    bench.rebalancer.join()
    bench.rebalancer.join()
    const [first, second] = bench.member.joins.map(({ userData }) => userData?.toString())

    expect(bench.owned()).to.deep.equal(['in-1', 'more-1'])
    expect(bench.member.joins[0]?.topics).to.deep.equal(['in', 'more'])
    expect(first).to.include('42')
    expect(second).to.include('43')
  })

  it('commits, closes nothing and stops where the group says that the application is to stop', async () => {
    const bench = await owning(1)
    bench.assign(partitionsOf(2), { shutdown: true })

    expect(await rejectionOf(bench.rebalancer.apply())).to.include({ code: 'SHUTDOWN_REQUESTED', reaction: 'stop' })
    expect(bench.calls).to.deep.equal(['commit'])
    expect(bench.tasks()).to.equal('0_1')
    // Whoever has to join once more before the end tells it as well.
    bench.rebalancer.join()
    expect(bench.member.joins.at(-1)?.userData?.toString()).to.include('"shutdown":true')
  })

  it('says so with the next join, which is due at once, when the application is to stop', async () => {
    const bench = await owning(1)
    bench.rebalancer.join()
    expect(bench.member.joins.at(-1)?.userData?.toString()).not.to.include('shutdown')
    bench.member.joinOutstanding = false
    bench.rebalancer.askForShutdown()
    expect(bench.wakes).to.equal(1)
    await bench.applied()
    expect(bench.member.joins).to.have.length(2)
    expect(bench.member.joins.at(-1)?.userData?.toString()).to.include('"shutdown":true')
  })

  it('commits before it joins again when the group asks for it', async () => {
    const bench = await owning(1)
    bench.member.events.push({ type: 'rebalanceNeeded' })

    expect(await bench.applied()).to.deep.equal(['commit'])
    expect(bench.owned()).to.deep.equal(['in-1', 'more-1'])
  })

  it('does not join while a join is outstanding, and does so afterwards', async () => {
    const bench = await owning(1)
    bench.member.joinOutstanding = true
    bench.member.events.push({ type: 'rebalanceNeeded' })
    expect(await bench.applied()).to.deep.equal([])
    bench.member.joinOutstanding = false

    expect(await bench.applied()).to.deep.equal(['commit'])
    expect(bench.member.joins).to.have.length(1)
  })

  it('takes what was assigned before it joins again, so that it claims nothing that it has to give up', async () => {
    const bench = await owning(1, 2)
    bench.member.joinOutstanding = true
    bench.member.events.push({ type: 'rebalanceNeeded' })
    await bench.applied()
    // The round ends; what it says has not been taken yet.
    bench.member.joinOutstanding = false
    bench.assign(partitionsOf(1))
    await bench.applied()

    expect(bench.member.joins.map(({ owned }) => owned.map(formatTopicPartition))).to.deep.equal([['in-1', 'more-1']])
  })

  it('takes what was assigned while it committed before it joins again', async () => {
    const bench = await owning(1, 2)
    bench.member.events.push({ type: 'rebalanceNeeded' })
    bench.onCommit = () => {
      bench.onCommit = () => {}
      bench.assign(partitionsOf(1))
    }
    await bench.applied()

    expect(bench.member.joins.map(({ owned }) => owned.map(formatTopicPartition))).to.deep.equal([['in-1', 'more-1']])
  })

  it('joins once more when it gave something up while a join was outstanding: that one claimed too much', async () => {
    const bench = await owning(1, 2)
    bench.member.joinOutstanding = true
    bench.assign(partitionsOf(1))
    await bench.applied()
    expect(bench.member.joins).to.deep.equal([])
    bench.member.joinOutstanding = false
    await bench.applied()

    expect(bench.owned()).to.deep.equal(['in-1', 'more-1'])
  })

  it('leaves a join whose commit failed to the next turn', async () => {
    const bench = await owning(1)
    bench.commits = new Answers<'done'>(new MillraceError('TRANSACTION_ABORTED'), 'done')
    bench.member.events.push({ type: 'rebalanceNeeded' })
    expect((await rejectionOf(bench.rebalancer.apply())).code).to.equal('TRANSACTION_ABORTED')
    expect(bench.member.joins).to.have.length(0)
    await bench.rebalancer.apply()

    expect(bench.member.joins).to.have.length(1)
  })

  it('commits, then creates the new tasks with their partitions claimed', async () => {
    const bench = new RebalanceBench().assign(partitionsOf(0, 2))
    const epoch = bench.claims.epoch

    expect(await bench.applied()).to.deep.equal(['fingerprint', 'commit', 'open 0_0 0_2'])
    expect(bench.claims.epoch).to.equal(epoch + 1)
    expect(() => {
      bench.claims.assertClaimed(partitionsOf(0, 2))
    }).not.to.throw()
    expect([bench.rebalances, bench.member.joins.length]).to.deep.equal([1, 0])
  })

  it('does nothing but count where nothing changed', async () => {
    const bench = await owning(1)
    const epoch = bench.claims.epoch

    expect(await bench.assign(partitionsOf(1)).applied()).to.deep.equal([])
    expect([bench.claims.epoch, bench.rebalances, bench.tasks()]).to.deep.equal([epoch, 2, '0_1'])
  })

  it('commits what is taken away, closes it, and joins again so that others get it', async () => {
    const bench = await owning(0, 1)

    expect(await bench.assign(partitionsOf(1)).applied()).to.deep.equal(['commit', 'close 0_0'])
    expect(bench.owned()).to.deep.equal(['in-1', 'more-1'])
    expect(() => {
      bench.claims.assertClaimed(partitionsOf(0))
    }).to.throw('I5 fencing')
  })

  it('closes and creates behind one commit', async () => {
    const bench = await owning(0)

    expect(await bench.assign(partitionsOf(1)).applied()).to.deep.equal(['commit', 'close 0_0', 'open 0_1'])
    expect(bench.member.joins).to.have.length(1)
  })

  it('takes the whole step again when its commit fails', async () => {
    const bench = await owning(0)
    bench.commits = new Answers<'done'>(new MillraceError('REQUEST_TIMED_OUT'), 'done')
    bench.assign(partitionsOf(1))
    await rejectionOf(bench.rebalancer.apply())
    expect(bench.tasks()).to.equal('0_0')
    expect(bench.calls.splice(0)).to.deep.equal(['commit'])

    expect(await bench.applied()).to.deep.equal(['commit', 'close 0_0', 'open 0_1'])
    expect(bench.member.joins).to.have.length(1)
  })

  it('takes the whole step again when the topics cannot be looked up', async () => {
    const bench = await owning(0)
    bench.counts = new Answers<ReadonlyMap<string, number>>(
      new MillraceError('CONNECTION_LOST'),
      new Map([
        ['in', 4],
        ['more', 4],
      ]),
    )
    bench.assign(partitionsOf(1))
    await rejectionOf(bench.rebalancer.apply())

    expect(await bench.applied()).to.deep.equal(['commit', 'close 0_0', 'open 0_1'])
  })

  it('aborts where another member of a later generation owns what is taken away', async () => {
    const bench = await owning(0, 1)
    bench.assign(partitionsOf(1), { lost: partitionsOf(0) })

    expect(await bench.applied()).to.deep.equal(['abort MEMBERSHIP_LOST', 'close 0_0'])
    expect(bench.tasks()).to.equal('0_1')
  })

  it('starts no task with a part of its inputs, and asks for a round of its own once', async () => {
    const bench = new RebalanceBench().assign([{ topic: 'in', partition: 0 }, ...partitionsOf(1)])

    expect(await bench.applied()).to.deep.equal(['commit', 'open 0_1'])
    expect(bench.member.joins).to.have.length(1)
    await bench.assign([{ topic: 'in', partition: 0 }, ...partitionsOf(1)]).applied()
    expect(bench.member.joins).to.have.length(1)
  })

  it('creates a task anew that has got one more input', async () => {
    const bench = new RebalanceBench()
    bench.counts = new Answers<ReadonlyMap<string, number>>(
      new Map([
        ['in', 4],
        ['more', 1],
      ]),
      new Map([
        ['in', 4],
        ['more', 4],
      ]),
    )
    await bench.assign([{ topic: 'in', partition: 1 }]).applied()

    expect(await bench.assign(partitionsOf(1)).applied()).to.deep.equal(['commit', 'close 0_1', 'open 0_1'])
    expect(bench.room.registry.ownedPartitions()).to.have.length(2)
  })

  it('leaves partitions alone that this version does not read', async () => {
    const bench = new RebalanceBench().assign([{ topic: 'old', partition: 0 }])

    expect(await bench.applied()).to.deep.equal([])
    expect([bench.tasks(), bench.member.joins.length]).to.deep.equal(['', 1])
  })

  it('asks once for a round of its own when the assignment was made for another plan', async () => {
    const bench = new RebalanceBench().assign(partitionsOf(1), { plan: 'another' })
    await bench.applied()
    expect(bench.member.joins).to.have.length(1)
    await bench.assign(partitionsOf(1), { plan: 'another' }).applied()

    expect(bench.member.joins).to.have.length(1)
  })

  it('still asks for it when the first comparison failed', async () => {
    const bench = new RebalanceBench().assign(partitionsOf(1), { plan: 'another' })
    bench.fingerprints = new Answers<string>(new MillraceError('REQUEST_TIMED_OUT'), PLAN)
    await rejectionOf(bench.rebalancer.apply())
    expect(bench.tasks()).to.equal('')
    await bench.applied()

    expect([bench.tasks(), bench.member.joins.length]).to.deep.equal(['0_1', 1])
  })

  it('gives a loss back, and joins with nothing owned once all is dropped', async () => {
    const bench = await owning(1)
    bench.member.events.push({ type: 'lost', error: new MillraceError('MEMBERSHIP_LOST') })
    expect((await bench.rebalancer.apply())?.code).to.equal('MEMBERSHIP_LOST')
    for (const task of bench.room.registry.all()) bench.room.registry.remove(task)
    bench.rebalancer.lost()
    await bench.rebalancer.apply()

    expect(bench.owned()).to.deep.equal([])
  })

  it('forgets an assignment under way when all is lost', async () => {
    const bench = new RebalanceBench().assign(partitionsOf(1))
    bench.commits = new Answers<'done'>(new MillraceError('MEMBERSHIP_LOST'), 'done')
    await rejectionOf(bench.rebalancer.apply())
    bench.rebalancer.lost()
    await bench.rebalancer.apply()

    expect(bench.tasks()).to.equal('')
  })

  for (const type of ['replaced', 'failed'] as const) {
    it(`stops when the member is ${type}`, async () => {
      const bench = await owning(1)
      bench.member.events.push({ type, error: new MillraceError('INSTANCE_ID_IN_USE') })

      expect((await rejectionOf(bench.rebalancer.apply())).code).to.equal('INSTANCE_ID_IN_USE')
    })
  }

  it('refuses the words of a later version', async () => {
    const bench = new RebalanceBench()
    const userData = Buffer.from('{"version":2}')
    bench.member.events.push({ type: 'assigned', membership: memberIn(2), partitions: [], userData })

    expect((await rejectionOf(bench.rebalancer.apply())).code).to.equal('STATE_VERSION_UNKNOWN')
  })
})
