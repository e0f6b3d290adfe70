import type { MillraceErrorCode } from '../../model/error-table.ts'
import { asMillraceError, MillraceError } from '../../model/errors.ts'
import { ERROR_CODE, kafkaErrorName } from '../protocol/error-codes.ts'
import type { FetchHost } from './fetch-host.ts'
import type { FetchPartition } from './fetch-partition.ts'
import { fetchReactionTo } from './fetch-reactions.ts'

/** Codes no waiting cures. `BROKER_UNREACHABLE` is none of them: brokers come back. */
const HOPELESS: ReadonlySet<MillraceErrorCode> = new Set(['AUTHENTICATION_FAILED', 'NOT_AUTHORIZED', 'BROKER_TOO_OLD'])

/** Codes that may be a passing fault of one answer, but must not be retried for ever. */
const SUSPECT: ReadonlySet<MillraceErrorCode> = new Set(['PROTOCOL_VIOLATION', 'INTERNAL'])

/** Answers a thrown error of a call made for a partition. */
export function handleThrown(host: FetchHost, partition: FetchPartition, thrown: unknown): void {
  const error = asMillraceError(thrown)
  if (HOPELESS.has(error.code)) host.fail(partition, error)
  else host.lost(partition, error, SUSPECT.has(error.code))
}

/** Answers a partition's error code, other than 0. */
export function handleCode(host: FetchHost, partition: FetchPartition, code: number): void {
  const { topic, partition: number } = partition.topicPartition
  const details = { topic, partition: number, kafkaCode: code }
  const name = `${kafkaErrorName(code)} (${String(code)})`
  const reaction = fetchReactionTo(code)
  switch (reaction) {
    case 'none':
      return
    case 'outOfRange':
      return host.fail(partition, outOfRange(partition, whatIsKnown(partition)))
    case 'notAuthorized': {
      const what = 'The principal may not read the topic (TOPIC_AUTHORIZATION_FAILED).'
      const action = `Grant Read on the topic ${topic}.`
      return host.fail(partition, new MillraceError('NOT_AUTHORIZED', { ...details, what, action }))
    }
    case 'relocate':
      return host.lost(
        partition,
        new MillraceError('KAFKA_ERROR', { ...details, what: `The leader answered ${name}.` }),
        false,
      )
    case 'recheckTopic': {
      // 3 speaks of the name, 100 and 103 of the id: the name may exist again with another id.
      const error = code === ERROR_CODE.UNKNOWN_TOPIC_OR_PARTITION ? 'TOPIC_MISSING' : 'TOPIC_RECREATED'
      return host.lost(partition, new MillraceError(error, details), true)
    }
    case 'retryBounded': {
      const what = `The leader answered ${name} to every fetch.`
      return host.lost(partition, new MillraceError('KAFKA_ERROR', { ...details, what, reaction: 'stop' }), true)
    }
    default:
      return reaction satisfies never
  }
}

/** The failure of a position that the log does not have. */
export function outOfRange({ offset, topicPartition }: FetchPartition, what: string): MillraceError {
  const { topic, partition } = topicPartition
  return new MillraceError('OFFSET_OUT_OF_RANGE', {
    topic,
    partition,
    offset,
    what,
    kafkaCode: ERROR_CODE.OFFSET_OUT_OF_RANGE,
  })
}

function whatIsKnown({ offset, watermarks }: FetchPartition): string {
  if (watermarks === undefined || watermarks.logStart < 0) return 'The topic does not have this offset.'
  const known = `by the last answer its records are ${String(watermarks.logStart)} to ${String(watermarks.highWatermark)}`
  return offset > watermarks.highWatermark
    ? `The offset is past the end of the topic: ${known}.`
    : `The topic no longer has this offset (${known}): they were deleted before they were read.`
}
