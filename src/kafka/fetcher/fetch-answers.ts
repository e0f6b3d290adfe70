import { MillraceError } from '../../model/errors.ts'
import type { ResponseBodies } from '../protocol/api.ts'
import { RecordCursor } from '../records/record-cursor.ts'
import { blockEnd } from './block-end.ts'
import { handleCode, handleThrown } from './fetch-errors.ts'
import type { FetchHost } from './fetch-host.ts'
import type { FetchPartition } from './fetch-partition.ts'
import type { FrameLoan } from './frame-lender.ts'
import { type AskedPartition, FetchAnswers, type FetchedPartition, type FetchLimits } from './fetch-request.ts'

/** An answer to a fetch, and how it was asked for. */
export interface FetchAnswer {
  readonly version: number
  readonly response: ResponseBodies['Fetch']
  readonly isolation: FetchLimits['isolation']
  /** The memory that the answer lies in, where that is used again. */
  readonly loan: FrameLoan | undefined
}

/** What an answer did. */
export interface TakenAnswers {
  /** Partitions that got a block. */
  readonly served: readonly FetchPartition[]
  /** Whether anything moved; an answer that changed nothing must not be asked for again at once. */
  readonly changed: boolean
}

/** Gives each partition its part of an answer; parts asked for before a seek or a removal are dropped. */
export function takeAnswers(host: FetchHost, asked: readonly AskedPartition[], answer: FetchAnswer): TakenAnswers {
  const answers = new FetchAnswers(answer.version, answer.response)
  const served: FetchPartition[] = []
  let changed = false
  for (const { partition, generation, offset } of asked) {
    if (partition.generation !== generation || partition.state !== 'ready' || partition.offset !== offset) {
      changed = true
      continue
    }
    const fetched = answers.of(partition)
    const code = answer.response.errorCode === 0 ? (fetched?.errorCode ?? 0) : answer.response.errorCode
    if (code !== 0) {
      handleCode(host, partition, code)
      changed = true
    } else if (fetched !== undefined && takeRecords(host, partition, fetched, answer)) {
      served.push(partition)
      changed = true
    }
  }
  return { served, changed }
}

/** @returns whether a block came of it */
function takeRecords(
  host: FetchHost,
  partition: FetchPartition,
  fetched: FetchedPartition,
  { isolation, loan }: FetchAnswer,
): boolean {
  const { topic, partition: number } = partition.topicPartition
  const position = partition.offset
  const isFirst = partition.watermarks === undefined
  partition.watermarks = {
    highWatermark: fetched.highWatermark,
    lastStableOffset: fetched.lastStableOffset,
    logStart: fetched.logStartOffset,
  }
  const { records, highWatermark, lastStableOffset } = fetched
  try {
    const end = records === null ? undefined : blockEnd(records, partition.topicPartition)
    if (records === null || end === undefined) {
      partition.answered()
      // Somebody may wait to learn that there is nothing.
      if (isFirst) host.wake()
      return false
    }
    if (end.nextOffset <= position) {
      const what = `The batches of a fetch from ${String(position)} end before it, at ${String(end.nextOffset)}.`
      throw new MillraceError('PROTOCOL_VIOLATION', { what, topic, partition: number, offset: position })
    }
    const cursor = new RecordCursor()
    const aborted = fetched.abortedTransactions ?? []
    cursor.reset({ topic, partition: number, position, aborted, isolation, ...heldBytes(records, loan) })
    partition.push({ cursor, endOffset: end.nextOffset, bytes: records.length, highWatermark, lastStableOffset }, end)
    partition.answered()
    return true
  } catch (error) {
    handleThrown(host, partition, error)
    return false
  }
}

/** What is held stays within so many times the blocks. */
const PINNED_TIMES_MAX = 16

/**
 * A block is a slice of its answer and keeps all of it alive. A small part of a large answer is copied, so that a
 * partition nobody takes from does not pin the bytes of all others.
 */
function heldBytes(
  records: Buffer,
  loan: FrameLoan | undefined,
): { readonly records: Buffer; readonly loan: FrameLoan | undefined } {
  const pinned = records.buffer.byteLength
  if (records.length * PINNED_TIMES_MAX < pinned) return { records: Buffer.from(records), loan: undefined }
  loan?.hold()
  return { records, loan }
}
