import { MillraceError, type MillraceErrorDetails } from '../../model/errors.ts'
import type { MillraceErrorCode } from '../../model/error-table.ts'
import { type CallKind, reactionTo } from '../error-reactions.ts'
import { ERROR_CODE, kafkaErrorName } from '../protocol/error-codes.ts'

/** Whether a code says that the broker thinks of another epoch or transaction than we do: InitProducerId tells why. */
export function asksFirst(code: number, call: CallKind): boolean {
  return reactionTo(code, call) === 'askFirst'
}

/** Whether the broker found the batch, not its content, too large. */
export function isTooLarge(code: number): boolean {
  return code === ERROR_CODE.MESSAGE_TOO_LARGE || code === ERROR_CODE.RECORD_LIST_TOO_LARGE
}

/**
 * An error code of a broker that no retry can clear, or that none has cleared until the deadline, as the error the
 * engine reacts to (docs/reliability.md, "Answers of a broker").
 *
 * @param where - what was asked, such as `EndTxn of transactional id orders-1`
 */
export function brokerFailure(
  code: number,
  call: CallKind,
  where: string,
  details: MillraceErrorDetails = {},
): MillraceError {
  const name = kafkaErrorName(code)
  const known: MillraceErrorDetails = {
    what: `${where} was answered ${name} (${String(code)})`,
    ...details,
    kafkaCode: code,
  }
  switch (reactionTo(code, call)) {
    case 'retry':
      return new MillraceError('REQUEST_TIMED_OUT', {
        ...known,
        what: `${where} was still answered ${name} at its deadline`,
      })
    case 'abort':
    case 'newGeneration':
      return new MillraceError('TRANSACTION_ABORTED', known)
    case 'refence':
      return new MillraceError('KAFKA_ERROR', known)
    case 'askFirst':
      return new MillraceError('TRANSACTION_TIMED_OUT', known)
    case 'replaced':
      return new MillraceError('INSTANCE_ID_IN_USE', known)
    case 'membershipLost':
      return new MillraceError('MEMBERSHIP_LOST', known)
    case 'record':
      return new MillraceError(isTooLarge(code) ? 'RECORD_TOO_LARGE' : 'RECORD_REFUSED', known)
    case 'stop':
      return new MillraceError(stopCode(code), { ...known, ...missingRight(code, details), reaction: 'stop' })
  }
}

/** What to grant; what was asked for names a group or transactional id already. */
function missingRight(code: number, { topic = '' }: MillraceErrorDetails): { readonly action?: string } {
  switch (code) {
    case ERROR_CODE.TOPIC_AUTHORIZATION_FAILED:
      return { action: topic === '' ? 'Grant Write on the topic.' : `Grant Write on the topic ${topic}.` }
    case ERROR_CODE.GROUP_AUTHORIZATION_FAILED:
      return { action: 'Grant Read on the group.' }
    case ERROR_CODE.TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
      return { action: 'Grant Write on the transactional id.' }
    default:
      return {}
  }
}

function stopCode(code: number): MillraceErrorCode {
  switch (code) {
    case ERROR_CODE.TOPIC_AUTHORIZATION_FAILED:
    case ERROR_CODE.GROUP_AUTHORIZATION_FAILED:
    case ERROR_CODE.CLUSTER_AUTHORIZATION_FAILED:
    case ERROR_CODE.TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
      return 'NOT_AUTHORIZED'
    case ERROR_CODE.UNSUPPORTED_VERSION:
      return 'BROKER_TOO_OLD'
    case ERROR_CODE.INVALID_TRANSACTION_TIMEOUT:
      return 'CONFIG_CONFLICT'
    default:
      return 'KAFKA_ERROR'
  }
}

/** No attempt after these will do better; after `NOT_RUNNING`, because we have closed the connections ourselves. */
const FINAL: ReadonlySet<MillraceErrorCode> = new Set<MillraceErrorCode>([
  'AUTHENTICATION_FAILED',
  'NOT_AUTHORIZED',
  'BROKER_TOO_OLD',
  'NOT_RUNNING',
])

/** Whether an error of opening a connection will not pass by itself. */
export function isFinal(error: unknown): boolean {
  return error instanceof MillraceError && FINAL.has(error.code)
}
