import { expect } from 'chai'
import { asLoss, groupError, membershipEnd } from '../../../../src/kafka/group/group-errors.ts'
import { MillraceError } from '../../../../src/model/errors.ts'

const REFUSED = { call: 'JoinGroup', groupId: 'totals', groupInstanceId: 'one' } as const

describe('group errors', () => {
  for (const [code, expected, end] of [
    [22, 'MEMBERSHIP_LOST', 'membershipLost'],
    [25, 'MEMBERSHIP_LOST', 'membershipLost'],
    [69, 'MEMBERSHIP_LOST', 'membershipLost'],
    [-1, 'MEMBERSHIP_LOST', 'membershipLost'],
    [4711, 'MEMBERSHIP_LOST', 'membershipLost'],
    [16, 'REQUEST_TIMED_OUT', 'membershipLost'],
    [82, 'INSTANCE_ID_IN_USE', 'instanceTaken'],
    [23, 'CONFIG_CONFLICT', 'refused'],
    [24, 'CONFIG_INVALID', 'refused'],
    [26, 'CONFIG_INVALID', 'refused'],
    [30, 'NOT_AUTHORIZED', 'refused'],
    [53, 'NOT_AUTHORIZED', 'refused'],
    [81, 'KAFKA_ERROR', 'refused'],
    [35, 'BROKER_TOO_OLD', 'refused'],
  ] as const) {
    it(`make ${expected} of ${String(code)} (${end})`, () => {
      const error = groupError(code, REFUSED)
      expect(error.code).to.equal(expected)
      expect(error.details.kafkaCode).to.equal(code)
      expect(membershipEnd(error)).to.equal(end)
    })
  }

  it('tell the group and what it answered', () => {
    expect(groupError(25, REFUSED).message).to.include('"totals"').and.include('UNKNOWN_MEMBER_ID')
    expect(groupError(82, REFUSED).message).to.include('"one"')
  })

  it('abort and refence for an unknown answer to a commit', () => {
    expect(groupError(-1, { ...REFUSED, call: 'OffsetCommit' })).to.deep.include({
      code: 'KAFKA_ERROR',
      reaction: 'refence',
    })
  })

  it('do not end a member for a broker that cannot be reached', () => {
    expect(membershipEnd(new MillraceError('BROKER_UNREACHABLE'))).to.equal('membershipLost')
    expect(membershipEnd(new MillraceError('AUTHENTICATION_FAILED'))).to.equal('refused')
  })

  it('say rejoin whatever cost the membership, and keep the cause', () => {
    const cause = new MillraceError('CONNECTION_LOST')
    const loss = asLoss(cause)
    expect(loss).to.deep.include({ code: 'MEMBERSHIP_LOST', reaction: 'rejoin' })
    expect(loss.cause).to.equal(cause)
    const poll = new MillraceError('MAX_POLL_INTERVAL_EXCEEDED')
    expect(asLoss(poll)).to.equal(poll)
  })
})
