import { expect } from 'chai'
import { CommitSchedule, type UncommittedWork } from '../../../src/engine/commit-schedule.ts'

const NO_WORK: UncommittedWork = {
  exists: false,
  transactionOpenedAtMs: undefined,
  transactionBytes: 0,
  isFull: false,
  isIdle: false,
}

function work(fields: Partial<UncommittedWork> = {}): UncommittedWork {
  return {
    exists: true,
    transactionOpenedAtMs: undefined,
    transactionBytes: 0,
    isFull: false,
    isIdle: false,
    ...fields,
  }
}

function aSchedule(): CommitSchedule {
  return new CommitSchedule({ intervalMs: 100, ageMaxMs: 5_000, bytesMax: 1_000 }, 0)
}

describe('commit schedule', () => {
  it('is due when the interval has passed since the last commit', () => {
    const schedule = aSchedule()
    expect(schedule.due(99, work())).to.equal(undefined)
    expect(schedule.due(100, work())).to.equal('interval')
  })

  it('is never due without uncommitted work, whatever was asked for', () => {
    const schedule = aSchedule()
    schedule.request()
    expect(schedule.due(1_000_000, NO_WORK)).to.equal(undefined)
  })

  it('commits the first record after an idle stretch within the rest of the running interval', () => {
    const schedule = aSchedule()
    expect(schedule.due(1_050, NO_WORK)).to.equal(undefined)
    expect(schedule.nextMs(true)).to.equal(1_100)
    expect(schedule.due(1_099, work())).to.equal(undefined)
    expect(schedule.due(1_100, work())).to.equal('interval')
  })

  it('is due at once when a processor asked, and forgets the request with the commit', () => {
    const schedule = aSchedule()
    schedule.request()
    expect(schedule.due(1, work())).to.equal('requested')
    schedule.ended(2)
    expect(schedule.due(3, work())).to.equal(undefined)
  })

  it('is due when the transaction reaches its age, so that the broker does not abort it (I14)', () => {
    const schedule = new CommitSchedule({ intervalMs: 60_000, ageMaxMs: 5_000, bytesMax: 1_000 }, 0)
    expect(schedule.due(5_999, work({ transactionOpenedAtMs: 1_000 }))).to.equal(undefined)
    expect(schedule.due(6_000, work({ transactionOpenedAtMs: 1_000 }))).to.equal('age')
  })

  it('lets a thread without records commit so early that results are visible within the interval', () => {
    const schedule = aSchedule()
    for (let startedMs = 0; startedMs <= 10_000; startedMs += 100) schedule.committed(startedMs, startedMs + 8)
    expect(schedule.nextMs(true)).to.be.closeTo(10_092, 0.1)
    expect(schedule.due(10_091, work({ isIdle: true }))).to.equal(undefined)
    expect(schedule.due(10_092, work({ isIdle: true }))).to.equal('interval')
  })

  it('allows for commits that take now longer, now shorter', () => {
    const schedule = aSchedule()
    for (let startedMs = 0; startedMs <= 10_000; startedMs += 100)
      schedule.committed(startedMs, startedMs + ((startedMs / 100) % 2 === 0 ? 4 : 12))
    expect(schedule.nextMs(true)).to.be.within(10_076, 10_088)
  })

  it('waits for half of the interval in between, however long commits take', () => {
    const schedule = aSchedule()
    for (let startedMs = 0; startedMs <= 10_000; startedMs += 100) schedule.committed(startedMs, startedMs + 80)
    expect(schedule.nextMs(true)).to.equal(10_130)
  })

  it('lets a thread that has records to process use the whole interval', () => {
    const schedule = aSchedule()
    for (let startedMs = 0; startedMs <= 10_000; startedMs += 100) schedule.committed(startedMs, startedMs + 8)
    expect(schedule.due(10_107, work())).to.equal(undefined)
    expect(schedule.nextMs(false)).to.equal(10_108)
    expect(schedule.due(10_108, work())).to.equal('interval')
  })

  it('begins a whole interval after an abort', () => {
    const schedule = aSchedule()
    schedule.ended(50)
    expect(schedule.due(149, work({ isIdle: true }))).to.equal(undefined)
    expect(schedule.due(150, work({ isIdle: true }))).to.equal('interval')
  })

  it('is due when the transaction reaches its size', () => {
    expect(aSchedule().due(1, work({ transactionBytes: 999 }))).to.equal(undefined)
    expect(aSchedule().due(1, work({ transactionBytes: 1_000 }))).to.equal('size')
    expect(aSchedule().due(1, work({ isFull: true }))).to.equal('size')
  })
})
