import { unreachable } from '../../model/assert.ts'
import { MillraceError } from '../../model/errors.ts'
import { reactionTo, type CallKind } from '../error-reactions.ts'
import { ERROR_CODE, kafkaErrorName } from '../protocol/error-codes.ts'

/** Who was refused, and what it had asked, for the message. */
export interface RefusedCall {
  readonly call: 'JoinGroup' | 'SyncGroup' | 'Heartbeat' | 'OffsetFetch' | 'OffsetCommit'
  readonly groupId: string
  readonly groupInstanceId: string | null
}

/** A refusal of the group as an error; what to do about it is said by the one table of reactions. */
export function groupError(kafkaCode: number, refused: RefusedCall): MillraceError {
  const { call, groupId, groupInstanceId } = refused
  const group = JSON.stringify(groupId)
  const answered = `the broker answered ${call} with ${kafkaErrorName(kafkaCode)}`
  const reaction = reactionTo(kafkaCode, kindOf(call))
  switch (reaction) {
    case 'membershipLost':
    case 'newGeneration':
      return new MillraceError('MEMBERSHIP_LOST', {
        kafkaCode,
        what: `Group ${group} gave this member up: ${answered}.`,
      })
    case 'replaced':
      return new MillraceError('INSTANCE_ID_IN_USE', {
        kafkaCode,
        what: `Another process took the instance id ${JSON.stringify(groupInstanceId)} of group ${group}.`,
      })
    case 'retry':
      return new MillraceError('REQUEST_TIMED_OUT', {
        kafkaCode,
        what: `Group ${group} was not ready before the deadline: ${answered}.`,
      })
    case 'stop':
      return stopError(kafkaCode, group, answered)
    case 'abort':
    case 'refence':
    case 'askFirst':
    case 'record':
      return new MillraceError('KAFKA_ERROR', { kafkaCode, what: `Group ${group}: ${answered}.` })
    default:
      return unreachable(reaction)
  }
}

function kindOf(call: RefusedCall['call']): CallKind {
  return call === 'OffsetFetch' || call === 'OffsetCommit' ? 'offsetCommit' : 'group'
}

function stopError(kafkaCode: number, group: string, answered: string): MillraceError {
  switch (kafkaCode) {
    case ERROR_CODE.GROUP_AUTHORIZATION_FAILED:
    case ERROR_CODE.TOPIC_AUTHORIZATION_FAILED:
    case ERROR_CODE.TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
      return new MillraceError('NOT_AUTHORIZED', {
        kafkaCode,
        what: `The principal lacks a right that group ${group} needs: ${answered}.`,
        action: `Grant Read on Group ${group} and on the topics it reads.`,
      })
    case ERROR_CODE.INVALID_GROUP_ID:
      return new MillraceError('CONFIG_INVALID', {
        kafkaCode,
        what: `The broker does not accept ${group} as a group id.`,
        action: 'Choose another `application.id`.',
      })
    case ERROR_CODE.INVALID_SESSION_TIMEOUT:
      return new MillraceError('CONFIG_INVALID', {
        kafkaCode,
        what: 'The broker does not accept this `session.timeout.ms`.',
        action:
          "Choose a value between the broker's `group.min.session.timeout.ms` and `group.max.session.timeout.ms`, or change those.",
      })
    case ERROR_CODE.INCONSISTENT_GROUP_PROTOCOL:
      return new MillraceError('CONFIG_CONFLICT', {
        kafkaCode,
        what: `Group ${group} has members of another kind, which do not speak this application's assignment protocol.`,
        action: 'Stop the other application and wait until its members have left, or choose another `application.id`.',
      })
    case ERROR_CODE.GROUP_MAX_SIZE_REACHED:
      return new MillraceError('KAFKA_ERROR', {
        kafkaCode,
        reaction: 'stop',
        what: `Group ${group} is full.`,
        action: "Run fewer stream threads, or raise the broker's `group.max.size`.",
      })
    case ERROR_CODE.UNSUPPORTED_VERSION:
      return new MillraceError('BROKER_TOO_OLD', { kafkaCode })
    default:
      return new MillraceError('KAFKA_ERROR', { kafkaCode, reaction: 'stop', what: `Group ${group}: ${answered}.` })
  }
}

/** What an error means for the membership. */
export type MembershipEnd = 'membershipLost' | 'instanceTaken' | 'refused'

/**
 * Sorts any error of a group call. What may clear by itself (lost connections, deadlines, a broker away, codes unknown
 * to us) costs the membership at most; what says "stop" ends the member.
 */
export function membershipEnd(error: MillraceError): MembershipEnd {
  if (error.code === 'INSTANCE_ID_IN_USE') return 'instanceTaken'
  if (error.code === 'BROKER_UNREACHABLE') return 'membershipLost'
  return error.reaction === 'stop' ? 'refused' : 'membershipLost'
}

/** Whatever cost the membership, the reaction is the same: rejoin with nothing owned. */
export function asLoss(error: MillraceError): MillraceError {
  return error.reaction === 'rejoin' ? error : new MillraceError('MEMBERSHIP_LOST', { ...error.details, cause: error })
}
