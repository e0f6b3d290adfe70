import { InvariantError } from '../model/assert.ts'
import { MillraceError, reasonOf } from '../model/errors.ts'
import type { MillraceErrorCode } from '../model/error-table.ts'
import { headersOf, type RecordHeader, type RecordHeaders } from '../model/headers.ts'
import type { ErrorPolicies, FailurePhase, RecordFailure, RecordReaction } from '../model/record-failure.ts'
import type { CurrentRecord } from '../operators/current-record.ts'
import type { RecordCollector } from './record-collector.ts'

/** Failures of one record, by the phase whose policy answers them; every other error is not the record's fault. */
const PHASES: Partial<Readonly<Record<MillraceErrorCode, FailurePhase>>> = {
  DESERIALIZATION_FAILED: 'deserialization',
  UNEXPECTED_NULL: 'deserialization',
  TIMESTAMP_INVALID: 'deserialization',
  SERIALIZATION_FAILED: 'production',
  RECORD_TOO_LARGE: 'production',
  PARTITION_OUT_OF_RANGE: 'production',
  PROCESSING_FAILED: 'processing',
  STEP_RETURNED_PROMISE: 'processing',
  CHILD_UNKNOWN: 'processing',
}

/** Longer stack traces would make a dead letter larger than the record that caused it. */
const STACK_CHARACTERS_MAX = 8_192

/** The phase whose policy answers a thrown value; `undefined` when no policy may: the store is full, the code is wrong. */
export function phaseOf(thrown: unknown): FailurePhase | undefined {
  if (thrown instanceof InvariantError) return undefined
  return thrown instanceof MillraceError ? PHASES[thrown.code] : 'processing'
}

/**
 * What an error policy sees of the current record. Of one that was held back nobody has the bytes any more; those of the
 * record that let it go are others.
 */
export function failureOf(phase: FailurePhase, cause: unknown, record: CurrentRecord): RecordFailure {
  const { view, actsForAnother } = record
  return {
    phase,
    cause,
    node: (cause instanceof MillraceError ? cause.details.node : undefined) ?? record.node,
    metadata: view.metadata,
    timestamp: actsForAnother ? view.timestamp : record.sourceTimestamp,
    headers: actsForAnother ? view.headers : record.sourceHeaders,
    rawKey: actsForAnother ? null : record.rawKey,
    rawValue: actsForAnother ? null : record.rawValue,
  }
}

/**
 * What the policies say; a function that answers nonsense counts as `stop`.
 *
 * @throws MillraceError with the reaction `stop` when a function fails itself
 */
export function reactionTo(failure: RecordFailure, policies: ErrorPolicies): RecordReaction {
  const policy = policies[failure.phase] ?? 'stop'
  if (typeof policy !== 'function') return policy
  let answer: unknown
  try {
    answer = policy(failure)
  } catch (thrown) {
    throw policyError(failure, thrown)
  }
  return answer === 'skip' || answer === 'deadLetter' ? answer : 'stop'
}

/** Tells both failures: the policy is to be corrected, and the record comes again. */
function policyError({ cause, metadata, node, phase }: RecordFailure, thrown: unknown): MillraceError {
  return new MillraceError('PROCESSING_FAILED', {
    ...metadata,
    node,
    cause: thrown,
    what: `The error policy for ${phase} failed itself: ${reasonOf(thrown)}. It was asked about: ${reasonOf(cause)}.`,
    action: `Correct the function given as \`errors.${phase}\`.`,
    reaction: 'stop',
  })
}

/** The error that ends the task for a record whose policy says stop. */
export function stopError(failure: RecordFailure, task: string): MillraceError {
  const { cause, metadata, node, phase } = failure
  const place = metadata === undefined ? { task, node } : { ...metadata, task, node }
  const error = cause instanceof MillraceError ? cause : undefined
  const code = error?.code ?? (phase === 'production' ? 'SERIALIZATION_FAILED' : 'PROCESSING_FAILED')
  return new MillraceError(code, {
    ...place,
    cause: error?.details.cause ?? cause,
    what: error === undefined ? `A step failed: ${reasonOf(cause)}.` : (error.details.what ?? error.message),
    reaction: 'stop',
  })
}

/** Writes the original bytes with context headers, as Kafka Streams does. Kafka Streams: `ExceptionHandlerUtils.buildDeadLetterQueueRecord`. */
export function sendDeadLetter(failure: RecordFailure, topic: string, collector: RecordCollector): void {
  const { rawKey, rawValue, timestamp } = failure
  collector.send(topic, undefined, rawKey, rawValue, timestamp, deadLetterHeaders(failure))
}

function deadLetterHeaders({ cause, headers, metadata }: RecordFailure): RecordHeaders {
  const origin = cause instanceof MillraceError ? (cause.details.cause ?? cause) : cause
  const added: RecordHeader[] = [
    text(
      'exception',
      origin instanceof MillraceError ? origin.code : origin instanceof Error ? origin.name : typeof origin,
    ),
    text(
      'message',
      cause instanceof MillraceError && cause.details.what !== undefined ? cause.details.what : reasonOf(origin),
    ),
    text('stacktrace', (origin instanceof Error ? (origin.stack ?? '') : '').slice(0, STACK_CHARACTERS_MAX)),
  ]
  if (metadata !== undefined) {
    added.push(
      text('topic', metadata.topic),
      text('partition', String(metadata.partition)),
      text('offset', String(metadata.offset)),
    )
  }
  return headersOf([...headers, ...added])
}

function text(name: string, value: string): RecordHeader {
  return [`__streams.errors.${name}`, Buffer.from(value, 'utf8')]
}
