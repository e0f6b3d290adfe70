import { expect } from 'chai'
import { decodeSubscription } from '../../../../src/kafka/protocol/consumer-protocol.ts'
import { MillraceError } from '../../../../src/model/errors.ts'
import { settle } from '../../../support/manual-clock.ts'
import { heartbeatAnswer, joinAnswer, MemberBench, syncAnswer, type Call } from './scripted-coordinator.ts'

const OWNED = [{ topic: 'input', partition: 0 }]

describe('group member', () => {
  it('changes generation with the JoinGroup answer, before SyncGroup is answered', async () => {
    const bench = await aStableMember()
    const { coordinator, member } = bench
    await bench.join({ owned: OWNED })
    expect(member.membership?.generationId).to.equal(1)
    expect(member.joinOutstanding).to.equal(true)
    await coordinator.waiting('JoinGroup').answer(joinAnswer({ generationId: 2 }))
    expect(member.membership).to.deep.equal({ generationId: 2, memberId: 'me', groupInstanceId: null })
    expect(member.joinOutstanding).to.equal(true)
    expect(bench.takeAll()).to.deep.equal(['joined'])
    await coordinator.waiting('SyncGroup').answer(syncAnswer())
    expect(member.joinOutstanding).to.equal(false)
    expect(bench.takeAll()).to.deep.equal(['assigned'])
  })

  it('joins as a new member first, then with the id that the broker gives it (KIP-394)', async () => {
    const bench = new MemberBench()
    await bench.join()
    expect(bench.coordinator.waiting('JoinGroup').body['memberId']).to.equal('')
    await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({ errorCode: 79, memberId: 'given' }))
    expect(bench.coordinator.waiting('JoinGroup').body['memberId']).to.equal('given')
    expect(bench.member.state).to.equal('joining')
  })

  it('sends a parked request again while the session, if the group began it with a lost answer, has time left', async () => {
    const bench = new MemberBench({ sessionTimeoutMs: 9_000, rebalanceTimeoutMs: 60_000 })
    await bench.join()
    const join = bench.coordinator.waiting('JoinGroup')
    expect(join.timeoutMs).to.be.greaterThan(60_000)
    expect(join.attemptTimeoutMs).to.equal(4_500)
    await join.answer(joinAnswer({}))
    expect(bench.coordinator.waiting('SyncGroup').attemptTimeoutMs).to.equal(4_500)
  })

  it('claims what it owns in the generation that it was assigned in, not in one that it never synced', async () => {
    const bench = await aStableMember()
    await bench.join({ owned: OWNED })
    await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({ generationId: 2 }))
    await bench.coordinator.waiting('SyncGroup').answer(syncAnswer({ errorCode: 27 }))
    expect(bench.takeAll()).to.deep.equal(['joined', 'rebalanceNeeded'])
    await bench.join({ owned: OWNED })
    const subscription = subscriptionOf(bench.coordinator.waiting('JoinGroup'))
    expect(subscription).to.deep.include({ generationId: 1, ownedPartitions: OWNED })
  })

  it('sends one join however often it is asked to', async () => {
    const bench = new MemberBench()
    await bench.join()
    await bench.join()
    await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({}))
    await bench.join()
    expect(bench.coordinator.sent).to.deep.equal(['JoinGroup', 'SyncGroup'])
  })

  it('joins no more until a loss has been taken, because what the caller believes to own is void', async () => {
    const bench = await aStableMember()
    await bench.clock.advance(3_000)
    await bench.coordinator.waiting('Heartbeat').answer(heartbeatAnswer(25))
    expect(bench.member.state).to.equal('lost')
    await bench.join({ owned: OWNED })
    expect(bench.coordinator.calls).to.deep.equal([])
    expect(bench.takeAll()).to.deep.equal(['lost'])
    await bench.join()
    expect(bench.coordinator.waiting('JoinGroup').body['memberId']).to.equal('')
  })

  it('refuses to join with partitions while it has no membership', () => {
    const bench = new MemberBench()
    expect(() => bench.member.join({ topics: [], owned: OWNED, userData: null })).to.throw('I5 fencing')
  })

  it('does not take a heartbeat of an earlier life as a word about this one', async () => {
    const bench = await aStableMember({ groupInstanceId: 'static' })
    await bench.clock.advance(3_000)
    const late = bench.coordinator.waiting('Heartbeat')
    await bench.clock.advance(9_000)
    expect(bench.takeAll()).to.deep.equal(['lost'])
    await bench.join()
    await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({ memberId: 'me again', generationId: 1 }))
    await late.answer(heartbeatAnswer(82))
    expect(bench.member.state).to.equal('syncing')
  })

  it('lets the JoinGroup answer decide when a heartbeat meets the new generation first', async () => {
    const bench = await aStableMember()
    await bench.clock.advance(3_000)
    const heartbeat = bench.coordinator.waiting('Heartbeat')
    await bench.join({ owned: OWNED })
    await heartbeat.answer(heartbeatAnswer(22))
    expect(bench.member.state).to.equal('joining')
    await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({ generationId: 2 }))
    expect(bench.takeAll()).to.deep.equal(['joined'])
  })

  it('tells once that the group rebalances, and keeps its session alive until it joins', async () => {
    const bench = await aStableMember()
    for (let beat = 0; beat < 8; beat += 1) {
      await bench.clock.advance(3_000)
      await bench.coordinator.waiting('Heartbeat').answer(heartbeatAnswer(27))
    }
    expect(bench.takeAll()).to.deep.equal(['rebalanceNeeded'])
    expect(bench.member.state).to.equal('rebalanceNeeded')
  })

  it('counts the session from when the last accepted heartbeat was sent', async () => {
    const bench = await aStableMember()
    await bench.clock.advance(3_000)
    const heartbeat = bench.coordinator.waiting('Heartbeat')
    await bench.clock.advance(2_500)
    await heartbeat.answer(heartbeatAnswer(0))
    await bench.clock.advance(6_400)
    expect(bench.member.state).to.equal('stable')
    await bench.clock.advance(3_000)
    expect(bench.takeAll()).to.deep.equal(['lost'])
  })

  it('has one heartbeat under way at a time, and at least three in a session', async () => {
    const bench = await aStableMember({ heartbeatIntervalMs: 8_000, sessionTimeoutMs: 9_000 })
    await bench.clock.advance(3_000)
    expect(bench.coordinator.calls.map(({ api }) => api)).to.deep.equal(['Heartbeat'])
    await bench.clock.advance(3_000)
    expect(bench.coordinator.calls.length).to.equal(1)
    await bench.coordinator.waiting('Heartbeat').answer(heartbeatAnswer(0))
    await bench.clock.advance(3_000)
    expect(bench.coordinator.sent.filter(api => api === 'Heartbeat').length).to.equal(2)
  })

  it('asks soon after an assignment whether another round has begun, and less and less often', async () => {
    const bench = await aStableMember({ firstHeartbeatMs: 100, heartbeatIntervalMs: 500 })
    const beatsAtMs: number[] = []
    for (let atMs = 50; atMs <= 2_200; atMs += 50) {
      await bench.clock.advance(50)
      if (bench.coordinator.calls.length === 0) continue
      beatsAtMs.push(atMs)
      await bench.coordinator.waiting('Heartbeat').answer(heartbeatAnswer(0))
    }
    expect(beatsAtMs).to.deep.equal([100, 300, 700, 1_200, 1_700, 2_200])
    await bench.becomeStable(2)
    await bench.clock.advance(100)
    await bench.coordinator.waiting('Heartbeat').answer(heartbeatAnswer(27))
    expect(bench.takeAll()).to.deep.equal(['rebalanceNeeded'])
  })

  it('is lost on waking from a block longer than the session, whatever timer fires first', async () => {
    const bench = await aStableMember()
    bench.clock.block(20_000)
    await bench.clock.advance(3_000)
    expect(bench.takeAll()).to.deep.equal(['lost'])
    expect(bench.coordinator.sent).not.to.include('Heartbeat')
  })

  it('is lost at the turn that comes too late, though no timer had its turn before', async () => {
    const bench = await aStableMember({ maxPollIntervalMs: 5_000, sessionTimeoutMs: 60_000 })
    bench.clock.block(5_001)
    bench.member.polled()
    const event = bench.member.nextEvent()
    expect(event?.type === 'lost' ? event.error.code : event).to.equal('MAX_POLL_INTERVAL_EXCEEDED')
    await settle()
    expect(bench.coordinator.waiting('LeaveGroup').body['members']).to.deep.include.members([
      { memberId: 'me', groupInstanceId: null, reason: 'max.poll.interval.ms exceeded' },
    ])
    await bench.join()
    expect(bench.coordinator.waiting('JoinGroup').body['memberId']).to.equal('')
  })

  it('keeps a static place when the turn comes too late, and finds out by its old id whether it was replaced', async () => {
    const bench = await aStableMember({
      groupInstanceId: 'static',
      maxPollIntervalMs: 5_000,
      sessionTimeoutMs: 60_000,
    })
    bench.clock.block(5_001)
    bench.member.polled()
    expect(bench.takeAll()).to.deep.equal(['lost'])
    expect(bench.coordinator.sent).not.to.include('LeaveGroup')
    await bench.join()
    const join = bench.coordinator.waiting('JoinGroup')
    expect(join.body['memberId']).to.equal('me')
    await join.answer(joinAnswer({ errorCode: 82 }))
    expect(bench.takeAll()).to.deep.equal(['replaced'])
  })

  it('begins as a new member when the group has forgotten the id that it kept over a loss', async () => {
    const bench = await aStableMember()
    await bench.clock.advance(9_000)
    expect(bench.takeAll()).to.deep.equal(['lost'])
    await bench.join()
    await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({ errorCode: 25 }))
    expect(bench.coordinator.waiting('JoinGroup').body['memberId']).to.equal('')
    expect(bench.takeAll()).to.deep.equal([])
  })

  it('drops what was not taken yet when the membership ends', async () => {
    const bench = new MemberBench()
    await bench.join()
    await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({}))
    await bench.coordinator.waiting('SyncGroup').answer(syncAnswer({ errorCode: 25 }))
    expect(bench.takeAll()).to.deep.equal(['lost'])
  })

  it('does not listen to a SyncGroup of a membership that has ended, whether it is answered or fails', async () => {
    for (const outcome of ['answer', 'failure'] as const) {
      const bench = new MemberBench()
      await bench.join()
      await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({}))
      await bench.clock.advance(3_000)
      await bench.coordinator.waiting('Heartbeat').answer(heartbeatAnswer(25))
      expect(bench.takeAll()).to.deep.equal(['lost'])
      await bench.join()
      const late = bench.coordinator.waiting('SyncGroup')
      if (outcome === 'answer') await late.answer(syncAnswer())
      else await late.fail(new MillraceError('CONNECTION_LOST'))
      expect(bench.member.state, outcome).to.equal('joining')
      expect(bench.takeAll(), outcome).to.deep.equal([])
    }
  })

  it('waits longer after each failure, and not at all after a success', async () => {
    const bench = new MemberBench()
    const waits: number[] = []
    for (let failure = 0; failure < 8; failure += 1) {
      await bench.join()
      const fromMs = bench.clock.nowMs()
      while (bench.coordinator.calls.length === 0) await bench.clock.advance(100)
      waits.push(bench.clock.nowMs() - fromMs)
      await bench.coordinator.waiting('JoinGroup').fail(new MillraceError('CONNECTION_LOST'))
      expect(bench.takeAll()).to.deep.equal(['lost'])
    }
    expect(waits).to.deep.equal([0, 100, 200, 400, 800, 1_600, 3_200, 5_000])
    await bench.join()
    await bench.clock.advance(5_000)
    await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({}))
    await bench.coordinator.waiting('SyncGroup').answer(syncAnswer())
    expect(bench.takeAll()).to.deep.equal(['joined', 'assigned'])
    await bench.join({ owned: OWNED })
    expect(bench.coordinator.waiting('JoinGroup').api).to.equal('JoinGroup')
  })

  it('gives the broker the rebalance timeout and a little more to answer JoinGroup', async () => {
    const bench = new MemberBench({ rebalanceTimeoutMs: 300_000 })
    await bench.join()
    expect(bench.coordinator.waiting('JoinGroup').timeoutMs).to.equal(305_000)
  })

  it('computes the assignment only as a leader that the broker asks to', async () => {
    const rounds: number[] = []
    const bench = new MemberBench({
      assign: round => {
        rounds.push(round.generationId)
        return Promise.resolve(new Map())
      },
    })
    for (const [generationId, leader, skipAssignment] of [
      [1, 'somebody', false],
      [2, 'me', true],
      [3, 'me', false],
    ] as const) {
      await bench.join()
      const members = [
        { memberId: 'me', groupInstanceId: null, metadata: metadataOf(bench.coordinator.waiting('JoinGroup')) },
      ]
      await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({ generationId, leader, skipAssignment, members }))
      const sent = bench.coordinator.waiting('SyncGroup').body['assignments']
      expect(sent).to.have.length(generationId === 3 ? 1 : 0)
      await bench.coordinator.waiting('SyncGroup').answer(syncAnswer())
      bench.takeAll()
    }
    expect(rounds).to.deep.equal([3])
  })

  it('reads an empty assignment as nothing assigned', async () => {
    const bench = new MemberBench()
    await bench.join()
    await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({}))
    await bench.coordinator.waiting('SyncGroup').answer(syncAnswer({ assignment: Buffer.alloc(0) }))
    bench.member.nextEvent()
    expect(bench.member.nextEvent()).to.deep.include({ type: 'assigned', partitions: [], userData: null })
  })

  it('leaves while a JoinGroup is parked, and does not listen to its answer any more', async () => {
    const bench = await aStableMember()
    await bench.join()
    const leaving = bench.member.leave(1_000)
    await settle()
    await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({ generationId: 2 }))
    expect(bench.member.state).to.equal('leaving')
    await bench.coordinator.waiting('LeaveGroup').answer({ errorCode: 0, members: [] })
    await leaving
    expect(bench.member.state).to.equal('closed')
    expect(bench.takeAll()).to.deep.equal([])
  })

  it('ends although LeaveGroup gets no answer', async () => {
    const bench = await aStableMember()
    const leaving = bench.member.leave(1_000)
    await settle()
    await bench.coordinator.waiting('LeaveGroup').fail(new MillraceError('REQUEST_TIMED_OUT'))
    await leaving
    expect(bench.member.state).to.equal('closed')
  })

  it('has nothing to leave before it joined, nor after it was replaced', async () => {
    const fresh = new MemberBench()
    await fresh.member.leave(1_000)
    const replaced = await aStableMember({ groupInstanceId: 'static' })
    await replaced.clock.advance(3_000)
    await replaced.coordinator.waiting('Heartbeat').answer(heartbeatAnswer(82))
    await replaced.member.leave(1_000)
    expect([...fresh.coordinator.sent, ...replaced.coordinator.sent]).not.to.include('LeaveGroup')
  })

  it('says nothing and sends nothing once closed', async () => {
    const bench = await aStableMember()
    bench.member.close()
    const wakes = bench.wakes
    await bench.clock.advance(60_000)
    await bench.join()
    expect(bench.coordinator.calls).to.deep.equal([])
    expect(bench.wakes).to.equal(wakes)
    expect(await bench.member.heartbeatNow()).to.equal(25)
  })

  it('wakes the loop for each event', async () => {
    const bench = new MemberBench()
    await bench.join()
    expect(bench.wakes).to.equal(0)
    await bench.coordinator.waiting('JoinGroup').answer(joinAnswer({}))
    expect(bench.wakes).to.equal(1)
    await bench.coordinator.waiting('SyncGroup').answer(syncAnswer())
    expect(bench.wakes).to.equal(2)
  })
})

async function aStableMember(options: ConstructorParameters<typeof MemberBench>[0] = {}): Promise<MemberBench> {
  const bench = new MemberBench(options)
  await bench.becomeStable()
  return bench
}

function metadataOf(call: Call): Buffer {
  const protocols = call.body['protocols'] as readonly { readonly metadata: Buffer }[]
  return protocols[0]?.metadata ?? Buffer.alloc(0)
}

function subscriptionOf(call: Call): ReturnType<typeof decodeSubscription> {
  return decodeSubscription(metadataOf(call))
}
