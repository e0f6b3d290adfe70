import { expect } from 'chai'
import { armCrashPoint, crashPoint, CRASH_POINTS, disarmCrashPoint } from '../../../src/model/crash-point.ts'

describe('crash point', () => {
  afterEach(() => {
    disarmCrashPoint()
  })

  it('does nothing unless it is armed', () => {
    for (const name of CRASH_POINTS) expect(() => crashPoint(name)).not.to.throw()
  })

  it('runs the action each time the armed point is passed, and at no other point', () => {
    let passed = 0
    armCrashPoint('endTxn:sent', () => {
      passed += 1
    })
    for (const name of [...CRASH_POINTS, ...CRASH_POINTS]) crashPoint(name)
    expect(passed).to.equal(2)
  })
})
