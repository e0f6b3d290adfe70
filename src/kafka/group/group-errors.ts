import { unreachable } from '../../model/assert.ts'
import { MillraceError } from '../../model/errors.ts'
import { reactionTo, type CallKind } from '../error-reactions.ts'
import { kafkaErrorName } from '../protocol/error-codes.ts'

/** Kafka's error codes that the group layer has something to do about. */
export const GROUP_ERROR = {
  none: 0,
  unknownTopicOrPartition: 3,
  offsetMetadataTooLarge: 12,
  coordinatorNotAvailable: 15,
  illegalGeneration: 22,
  inconsistentGroupProtocol: 23,
  invalidGroupId: 24,
  unknownMemberId: 25,
  invalidSessionTimeout: 26,
  rebalanceInProgress: 27,
  topicAuthorizationFailed: 29,
  groupAuthorizationFailed: 30,
  unsupportedVersion: 35,
  transactionalIdAuthorizationFailed: 53,
  memberIdRequired: 79,
  groupMaxSizeReached: 81,
  fencedInstanceId: 82,
  unstableOffsetCommit: 88,
} as const

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
    case 'fenced':
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
    case GROUP_ERROR.groupAuthorizationFailed:
    case GROUP_ERROR.topicAuthorizationFailed:
    case GROUP_ERROR.transactionalIdAuthorizationFailed:
      return new MillraceError('NOT_AUTHORIZED', {
        kafkaCode,
        what: `The principal lacks a right that group ${group} needs: ${answered}.`,
        action: `Grant Read on Group ${group} and on the topics it reads.`,
      })
    case GROUP_ERROR.invalidGroupId:
      return new MillraceError('CONFIG_INVALID', {
        kafkaCode,
        what: `The broker does not accept ${group} as a group id.`,
        action: 'Choose another `application.id`.',
      })
    case GROUP_ERROR.invalidSessionTimeout:
      return new MillraceError('CONFIG_INVALID', {
        kafkaCode,
        what: 'The broker does not accept this `session.timeout.ms`.',
        action:
          "Choose a value between the broker's `group.min.session.timeout.ms` and `group.max.session.timeout.ms`, or change those.",
      })
    case GROUP_ERROR.inconsistentGroupProtocol:
      return new MillraceError('CONFIG_CONFLICT', {
        kafkaCode,
        what: `Group ${group} has members of another kind, which do not speak this application's assignment protocol.`,
        action: 'Stop the other application and wait until its members have left, or choose another `application.id`.',
      })
    case GROUP_ERROR.groupMaxSizeReached:
      return new MillraceError('KAFKA_ERROR', {
        kafkaCode,
        reaction: 'stop',
        what: `Group ${group} is full.`,
        action: "Run fewer stream threads, or raise the broker's `group.max.size`.",
      })
    case GROUP_ERROR.unsupportedVersion:
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
