import { expect } from 'chai'
import { systemClock } from '../../../src/engine/system-clock.ts'
import { GroupOffsets } from '../../../src/kafka/group/group-offsets.ts'
import { LOCAL_USERS } from '../../../src/local-kafka/options.ts'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { GroupLoop, type LoopOptions } from './group-loop.ts'

describe('group member, when broker and network fail', function () {
  this.timeout(90_000)
  const kafka = useBroker('tv2')
  const loops: GroupLoop[] = []
  let proxy: KafkaProxy
  let group: LoopOptions

  beforeEach(async () => {
    proxy = await KafkaProxy.start({ bootstrapServers: kafka().bootstrapServers })
    group = { bootstrapServers: proxy.bootstrapServers, groupId: uniqueName('group'), topic: uniqueName('input') }
  })

  afterEach(async () => {
    await Promise.all(loops.splice(0).map(loop => loop.kill()))
    await proxy.stop()
    expect(proxy.failures).to.deep.equal([])
  })

  async function start(options: Partial<LoopOptions> = {}): Promise<GroupLoop> {
    const loop = await GroupLoop.start({ ...group, ...options })
    loops.push(loop)
    return loop
  }

  it('keeps its membership over a restart of the coordinator', async () => {
    const sessionTimeoutMs = 120_000
    const loop = await start({ sessionTimeoutMs })
    await loop.createTopic(group.topic)
    const other = await start({ sessionTimeoutMs })
    await Promise.all([loop.owns(2), other.owns(2)])
    const before = loop.member.membership
    kafka().kill(1, 'SIGKILL')
    await kafka().ended(1)
    await kafka().startNode(1)
    await eventually('the coordinator knows the member', async () => (await loop.member.heartbeatNow()) === 0)
    expect(loop.member.membership).to.equal(before)
    expect(loop.told).not.to.include('lost')
    expect(other.told).not.to.include('lost')
    const offsets = new GroupOffsets(loop.cluster, group.groupId, systemClock)
    const commit = new TopicPartitionMap([
      [
        { topic: group.topic, partition: 0 },
        { offset: 1, leaderEpoch: -1, metadata: '' },
      ],
    ])
    if (before === undefined) throw new Error('not a member')
    expect(await offsets.commit(before, commit, 10_000)).to.equal('done')
  })

  it('is lost when no heartbeat is answered within the session timeout, and joins when the network is back', async () => {
    const loop = await start({ sessionTimeoutMs: 2_000 })
    await loop.owns(4)
    const since = loop.told.length
    proxy.cut()
    const { error } = await loop.hears('lost', since)
    expect(error.message).to.include('session.timeout.ms')
    expect(loop.member.membership).to.equal(undefined)
    proxy.heal()
    await loop.owns(4)
  })

  it('sees a broker that accepts and never answers as gone, and goes on when another connection works', async () => {
    // The swallowed one takes half a session to be given up; the other half is left for the next.
    const loop = await start({ sessionTimeoutMs: 6_000 })
    await loop.owns(4)
    const rule = proxy.rule({ api: 'Heartbeat', direction: 'response', action: { type: 'drop' }, times: 1 })
    await eventually('a heartbeat was swallowed', () => rule.fired.length === 1)
    const asked = proxy.count('Heartbeat', 'response')
    await eventually('heartbeats are answered again', () => proxy.count('Heartbeat', 'response') > asked + 3)
    expect(loop.told).to.deep.equal(['joined', 'assigned'])
  })

  it('joins although answers to JoinGroup and SyncGroup are lost', async () => {
    proxy.rule({ api: 'JoinGroup', direction: 'response', action: { type: 'reset' }, nth: 2 })
    proxy.rule({ api: 'SyncGroup', direction: 'response', action: { type: 'reset' }, nth: 1 })
    const loop = await start()
    await loop.owns(4)
    expect(proxy.count('JoinGroup')).to.be.greaterThan(2)
    expect(loop.told.at(-1)).to.equal('assigned')
    expect(loop.told).not.to.include('lost')
  })

  it('joins when a broker takes JoinGroup and vanishes without closing the connection', async () => {
    const rule = proxy.rule({ api: 'JoinGroup', direction: 'response', action: { type: 'drop' }, nth: 2 })
    // The group counts the session from the lost answer on: half of it is left when the request is repeated.
    const loop = await start({ sessionTimeoutMs: 4_000, rebalanceTimeoutMs: 60_000 })
    await loop.owns(4)
    expect(rule.fired.length).to.equal(1)
    expect(loop.told).to.deep.equal(['joined', 'assigned'])
  })

  it('asks again while the coordinator is away, loading or elsewhere', async () => {
    for (const code of [14, 15, 16]) {
      proxy.rule({
        api: 'JoinGroup',
        direction: 'response',
        times: 2,
        action: { type: 'rewrite', body: body => ({ ...body, errorCode: code }) },
      })
    }
    const loop = await start()
    await loop.owns(4)
    for (const code of [14, 15, 16]) {
      proxy.rule({
        api: 'Heartbeat',
        direction: 'response',
        times: 2,
        action: { type: 'rewrite', body: body => ({ ...body, errorCode: code }) },
      })
    }
    const asked = proxy.count('Heartbeat')
    await eventually('heartbeats went on', () => proxy.count('Heartbeat') > asked + 10)
    expect(loop.told).not.to.include('lost')
  })

  it('takes a refused SyncGroup as the need for another round', async () => {
    const rule = proxy.rule({
      api: 'SyncGroup',
      direction: 'response',
      times: 1,
      action: { type: 'rewrite', body: body => ({ ...body, errorCode: 27, assignment: Buffer.alloc(0) }) },
    })
    const loop = await start()
    await loop.owns(4)
    expect(rule.fired.length).to.equal(1)
    expect(loop.told.slice(0, 3)).to.deep.equal(['joined', 'rebalanceNeeded', 'joined'])
  })

  for (const [code, api] of [
    [25, 'Heartbeat'],
    [22, 'Heartbeat'],
    [-1, 'Heartbeat'],
    [25, 'SyncGroup'],
    [22, 'SyncGroup'],
    [110, 'Heartbeat'],
  ] as const) {
    it(`gives everything up and joins anew when ${api} is answered with ${String(code)}`, async () => {
      const loop = await start({ sessionTimeoutMs: 2_000 })
      await loop.owns(4)
      const since = loop.told.length
      proxy.rule({
        api,
        direction: 'response',
        times: 1,
        action: { type: 'rewrite', body: body => ({ ...body, errorCode: code }) },
      })
      if (api === 'SyncGroup') loop.join()
      const { error } = await loop.hears('lost', since)
      expect(error).to.deep.include({ code: 'MEMBERSHIP_LOST', reaction: 'rejoin' })
      expect(error.details.kafkaCode).to.equal(code)
      await loop.owns(4)
    })
  }

  for (const [code, expected] of [
    [24, 'CONFIG_INVALID'],
    [30, 'NOT_AUTHORIZED'],
    [53, 'NOT_AUTHORIZED'],
    [81, 'KAFKA_ERROR'],
    [35, 'BROKER_TOO_OLD'],
  ] as const) {
    it(`stops with ${expected} when JoinGroup is answered with ${String(code)}`, async () => {
      proxy.rule({
        api: 'JoinGroup',
        direction: 'response',
        action: { type: 'rewrite', body: body => ({ ...body, errorCode: code }) },
      })
      const loop = await start()
      const { error } = await loop.hears('failed')
      expect(error).to.deep.include({ code: expected, reaction: 'stop' })
      const joins = proxy.count('JoinGroup')
      loop.join()
      expect(loop.member.state).to.equal('failed')
      expect(proxy.count('JoinGroup')).to.equal(joins)
    })
  }

  it('never reads an error as an offset that was never committed', async () => {
    const loop = await start()
    await loop.owns(4)
    const offsets = new GroupOffsets(loop.cluster, group.groupId, systemClock)
    const asked = [{ topic: group.topic, partition: 0 }]
    for (const code of [14, 16, 15]) {
      proxy.rule({
        api: 'OffsetFetch',
        direction: 'response',
        times: 1,
        action: {
          type: 'rewrite',
          body: body => ({ ...body, groups: body.groups.map(each => ({ ...each, errorCode: code, topics: [] })) }),
        },
      })
    }
    expect((await offsets.fetch(asked, 5_000)).size).to.equal(1)
    expect(proxy.count('OffsetFetch')).to.equal(4)
    for (const [place, code] of [
      ['group', 30],
      ['group', -1],
      ['partition', 29],
      ['partition', -1],
      ['nowhere', 0],
    ] as const) {
      const rule = proxy.rule({
        api: 'OffsetFetch',
        direction: 'response',
        action: {
          type: 'rewrite',
          body: body => ({
            ...body,
            groups: body.groups.map(each => ({
              ...each,
              errorCode: place === 'group' ? code : 0,
              topics:
                place === 'partition'
                  ? each.topics.map(topic => ({
                      ...topic,
                      partitions: topic.partitions.map(one => ({ ...one, errorCode: code })),
                    }))
                  : [],
            })),
          }),
        },
      })
      const outcome = await offsets.fetch(asked, 500).then(
        () => 'answered',
        (error: unknown) => String(error),
      )
      expect(outcome, `${place} ${String(code)}`).not.to.equal('answered')
      rule.remove()
    }
  })
})

describe('group member, on three brokers', function () {
  this.timeout(120_000)
  const kafka = useBroker('three')

  it('keeps its membership when the broker that coordinates the group dies and another takes over (F16)', async () => {
    const groupId = uniqueName('group')
    const loop = await GroupLoop.start({
      bootstrapServers: kafka().bootstrapServers,
      groupId,
      topic: uniqueName('input'),
      sessionTimeoutMs: 60_000,
    })
    try {
      await loop.owns(4, 60_000)
      const before = loop.member.membership
      const coordinator = await loop.cluster.coordinator('group', groupId)
      kafka().kill(coordinator, 'SIGKILL')
      await kafka().ended(coordinator)
      try {
        await eventually(
          'another broker knows the member',
          async () => (await loop.member.heartbeatNow().catch(() => -1)) === 0,
          50_000,
        )
        expect(await loop.cluster.coordinator('group', groupId)).not.to.equal(coordinator)
        expect(loop.member.membership).to.equal(before)
        expect(loop.told).to.deep.equal(['joined', 'assigned'])
      } finally {
        await kafka().startNode(coordinator)
      }
    } finally {
      await loop.kill()
    }
  })
})

describe('group member, on a broker with ACLs', function () {
  this.timeout(60_000)
  const kafka = useBroker('secure')

  it('names the group that it may not read', async () => {
    const { ca } = kafka()
    const groupId = uniqueName('forbidden')
    const loop = await GroupLoop.start({
      bootstrapServers: kafka().bootstrapServers,
      groupId,
      topic: uniqueName('input'),
      security: {
        protocol: 'SASL_SSL',
        ...(ca === undefined ? {} : { ssl: { ca } }),
        sasl: { mechanism: 'SCRAM-SHA-512', ...LOCAL_USERS.application },
      },
    })
    try {
      const { error } = await loop.hears('failed')
      expect(error).to.deep.include({ code: 'NOT_AUTHORIZED', exitCode: 77 })
      expect(error.message).to.include(groupId)
    } finally {
      await loop.kill()
    }
  })
})
