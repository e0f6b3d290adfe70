import { expect } from 'chai'
import { groupError } from '../../../src/kafka/group/group-errors.ts'
import { formatTopicPartition } from '../../../src/model/topic-partition.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { GroupLoop, type LoopOptions } from './group-loop.ts'

describe('group member, on a real broker', function () {
  this.timeout(60_000)
  const kafka = useBroker('tv2')
  const loops: GroupLoop[] = []
  /** What was seen while two members owned one partition. */
  const ownedTwice: string[] = []
  let group: LoopOptions

  beforeEach(() => {
    ownedTwice.length = 0
    group = {
      bootstrapServers: kafka().bootstrapServers,
      groupId: uniqueName('group'),
      topic: uniqueName('input'),
    }
  })

  afterEach(async () => {
    await Promise.all(loops.splice(0).map(loop => loop.kill()))
  })

  async function start(options: Partial<LoopOptions> = {}): Promise<GroupLoop> {
    const loop = await GroupLoop.start({ ...group, ...options })
    loops.push(loop)
    loop.onOwned = () => {
      const names = loops.flatMap(({ running, owned }) => (running ? owned.map(formatTopicPartition) : []))
      if (new Set(names).size < names.length) ownedTwice.push(names.join(' '))
    }
    return loop
  }

  it('joins, is assigned everything, and stays for longer than a session', async () => {
    const loop = await start({ sessionTimeoutMs: 4_000 })
    await loop.owns(4)
    expect(loop.told).to.deep.equal(['joined', 'assigned'])
    const [joined, assigned] = loop.events
    expect(joined).to.deep.include({ isLeader: true, skipAssignment: false })
    expect(assigned?.type === 'assigned' ? assigned.userData?.toString() : undefined).to.equal('generation 1')
    const joinedAt = Date.now()
    await eventually('more than a session has passed', () => Date.now() - joinedAt > 5_000)
    expect(await loop.member.heartbeatNow()).to.equal(0)
    expect(loop.told).to.deep.equal(['joined', 'assigned'])
  })

  it('hands partitions to a second member in two rounds, each owned by one member at most', async () => {
    const first = await start()
    await first.owns(4)
    const second = await start()
    await Promise.all([first.owns(2), second.owns(2)])
    // What stays is never given up for the rebalance: 4 partitions, then 2, never 0.
    expect(first.history.map(owned => owned.length)).to.satisfy((sizes: readonly number[]) => Math.min(...sizes) === 2)
    expect(first.told).to.include('rebalanceNeeded')
    expect([...first.owned, ...second.owned].map(formatTopicPartition).toSorted()).to.deep.equal(
      [0, 1, 2, 3].map(partition => formatTopicPartition({ topic: group.topic, partition })),
    )
    expect(ownedTwice).to.deep.equal([])
  })

  it('gives the place of a member that dies to the others after its session', async () => {
    const first = await start({ sessionTimeoutMs: 10_000 })
    const second = await start({ sessionTimeoutMs: 1_500 })
    await Promise.all([first.owns(2), second.owns(2)])
    await second.kill()
    await first.owns(4)
    expect(first.told).not.to.include('lost')
  })

  it('gives the place of a member that leaves to the others at once', async () => {
    const first = await start({ sessionTimeoutMs: 60_000 })
    const second = await start({ sessionTimeoutMs: 60_000 })
    await Promise.all([first.owns(2), second.owns(2)])
    await second.leave()
    expect(second.member.state).to.equal('closed')
    await first.owns(4)
  })

  it('takes its place back at once when a static member restarts, with no rebalance for the others', async () => {
    // What is waited for is less than a session.
    const first = await start({ groupInstanceId: 'a', sessionTimeoutMs: 60_000 })
    const second = await start({ groupInstanceId: 'b', sessionTimeoutMs: 60_000 })
    await Promise.all([first.owns(2), second.owns(2)])
    const before = { generation: second.member.membership?.generationId, owned: second.owned, told: first.told.length }
    for (const [victim, other] of [[second, first] as const]) {
      await victim.kill()
      const again = await start({ groupInstanceId: 'b', sessionTimeoutMs: 60_000 })
      await again.owns(2)
      expect(again.member.membership?.generationId).to.equal(before.generation)
      expect(again.owned).to.deep.equal(before.owned)
      expect(again.member.membership?.memberId).not.to.equal(victim.member.membership?.memberId)
      expect(await other.member.heartbeatNow()).to.equal(0)
      expect(other.told.length).to.equal(before.told)
    }
  })

  it('skips the assignment when a static leader restarts, and gets a round by joining again', async () => {
    let rounds = 0
    const first = await start({ groupInstanceId: 'leader' })
    await first.owns(4)
    await first.kill()
    const again = await start({
      groupInstanceId: 'leader',
      assign: round => {
        rounds += 1
        return Promise.resolve(
          new Map(
            round.members.map(({ memberId }) => [
              memberId,
              { partitions: [{ topic: group.topic, partition: 9 }], userData: null },
            ]),
          ),
        )
      },
    })
    await again.owns(4)
    expect(again.events[0]).to.deep.include({ type: 'joined', skipAssignment: true, isLeader: true })
    expect(rounds).to.equal(0)
    again.rejoins = false
    again.join()
    await again.owns(1)
    expect(rounds).to.equal(1)
    expect(again.owned).to.deep.equal([{ topic: group.topic, partition: 9 }])
  })

  it('is told that it was replaced when another process takes its instance id, and joins no more', async () => {
    const older = await start({ groupInstanceId: 'one' })
    await older.owns(4)
    const newer = await start({ groupInstanceId: 'one' })
    await newer.owns(4)
    const { error } = await older.hears('replaced')
    expect(error).to.deep.include({ code: 'INSTANCE_ID_IN_USE', reaction: 'stop', exitCode: 78 })
    expect(error.message).to.include('"one"')
    older.join()
    expect(older.member.state).to.equal('replaced')
    expect(older.member.membership).to.equal(undefined)
    expect(await older.member.heartbeatNow()).to.equal(82)
    await older.leave()
    expect(await newer.member.heartbeatNow()).to.equal(0)
  })

  it('keeps the place of a static member that is closed, and frees it when it leaves', async () => {
    const short = { sessionTimeoutMs: 30_000, rebalanceTimeoutMs: 1_500 }
    const staying = await start({ ...short, groupInstanceId: 'staying' })
    const leaving = await start({ ...short, groupInstanceId: 'leaving' })
    await Promise.all([staying.owns(2), leaving.owns(2)])
    await leaving.leave()
    await staying.owns(4)
    await staying.kill()
    // The round waits for the closed member until the rebalance timeout, then goes on with it as a member all the same.
    const seen: number[] = []
    const next = await start({
      ...short,
      groupInstanceId: 'next',
      assign: round => {
        seen.push(round.members.length)
        return Promise.resolve(new Map())
      },
    })
    await next.hears('assigned')
    const again = await start({ ...short, groupInstanceId: 'staying' })
    await again.hears('assigned')
    expect(again.member.membership?.generationId).to.equal(next.member.membership?.generationId)
    expect(seen.every(count => count === 2)).to.equal(true)
  })

  it('keeps its generation and old commits valid while its JoinGroup is parked, until the answer flips it', async () => {
    const first = await start()
    const second = await start()
    await Promise.all([first.owns(2), second.owns(2)])
    const before = first.member.membership
    second.rejoins = false
    first.rejoins = false
    first.join()
    await second.hears('rebalanceNeeded', second.told.length)
    expect(first.member.joinOutstanding).to.equal(true)
    expect(first.member.membership).to.equal(before)
    second.rejoins = true
    second.join()
    const { membership } = await first.hears('joined', first.told.length)
    expect(membership.generationId).to.equal((before?.generationId ?? 0) + 1)
    expect(first.member.membership).to.equal(membership)
  })

  it('is lost when the loop is blocked for longer than a session, and begins again with nothing', async () => {
    const loop = await start({ sessionTimeoutMs: 2_000 })
    await loop.owns(4)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)
    const { error } = await loop.hears('lost')
    expect(error.code).to.equal('MEMBERSHIP_LOST')
    await loop.owns(4)
    expect(loop.history.map(owned => owned.length)).to.deep.equal([4, 0, 4])
  })

  it('leaves when the loop does not come round within max.poll.interval.ms, and says so when it does', async () => {
    const stuck = await start({ maxPollIntervalMs: 1_000, sessionTimeoutMs: 30_000 })
    const other = await start({ sessionTimeoutMs: 30_000 })
    await Promise.all([stuck.owns(2), other.owns(2)])
    stuck.running = false
    await other.owns(4)
    stuck.running = true
    const { error } = await stuck.hears('lost')
    expect(error).to.deep.include({ code: 'MAX_POLL_INTERVAL_EXCEEDED', reaction: 'rejoin' })
    await Promise.all([stuck.owns(2), other.owns(2)])
  })

  it('falls silent rather than leaving when a static member does not come round', async () => {
    const stuck = await start({ maxPollIntervalMs: 1_000, sessionTimeoutMs: 2_000, groupInstanceId: 'stuck' })
    const other = await start({ sessionTimeoutMs: 10_000, groupInstanceId: 'other' })
    await Promise.all([stuck.owns(2), other.owns(2)])
    stuck.running = false
    const silentFrom = Date.now()
    await other.owns(4)
    expect(Date.now() - silentFrom).to.be.greaterThan(1_500)
    stuck.running = true
    await Promise.all([stuck.owns(2), other.owns(2)])
  })

  it('says which setting is wrong when the broker refuses the session timeout', async () => {
    const loop = await start({ sessionTimeoutMs: 10 })
    const { error } = await loop.hears('failed')
    expect(error).to.deep.include({ code: 'CONFIG_INVALID', exitCode: 78 })
    expect(error.message).to.include('session.timeout.ms')
    expect(loop.member.state).to.equal('failed')
  })

  it('says so when the group has members of another kind', async () => {
    const loop = await start({ protocolName: 'another-assignor' })
    await loop.owns(4)
    const second = await start()
    const { error } = await second.hears('failed')
    expect(error).to.deep.include({ code: 'CONFIG_CONFLICT', exitCode: 78 })
    expect(await loop.member.heartbeatNow()).to.equal(0)
  })

  it('fails when the leader cannot assign for good, and asks for another round when it may later', async () => {
    const failing = await start({
      assign: () => Promise.reject(groupError(30, { call: 'OffsetFetch', groupId: 'g', groupInstanceId: null })),
    })
    const { error } = await failing.hears('failed')
    expect(error.code).to.equal('NOT_AUTHORIZED')
    await failing.leave()

    let calls = 0
    const recovering = await start({
      groupId: uniqueName('group'),
      assign: round => {
        calls += 1
        if (calls < 3)
          return Promise.reject(groupError(15, { call: 'OffsetFetch', groupId: 'g', groupInstanceId: null }))
        const [member] = round.members
        return Promise.resolve(
          new Map([[member?.memberId ?? '', { partitions: [{ topic: group.topic, partition: 0 }], userData: null }]]),
        )
      },
    })
    await recovering.owns(1)
    expect(recovering.told).to.deep.equal([
      'joined',
      'rebalanceNeeded',
      'joined',
      'rebalanceNeeded',
      'joined',
      'assigned',
    ])
  })

  it('settles while members come and go, and never lets two own one partition', async () => {
    const members = await Promise.all([start({ partitions: 6 }), start({ partitions: 6 }), start({ partitions: 6 })])
    await Promise.all(members.map(loop => loop.owns(2)))
    const [first] = members
    await first.leave()
    const late = await start({ partitions: 6 })
    await Promise.all([...members.slice(1), late].map(loop => loop.owns(2)))
    expect(ownedTwice).to.deep.equal([])
  })
})
