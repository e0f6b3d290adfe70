import type { RecordHeaders } from '../model/headers.ts'

/** Header that says where a record comes from, when `provenance.headers` is on. */
export const PROVENANCE_HEADER = '__millrace.provenance'

/** Why a record was written: by whom, in which transaction, and because of which source record. */
export interface Provenance {
  /** `application.id` of the writer. */
  readonly application: string
  /** `<subtopology>_<partition>`. */
  readonly task: string
  /** Name of the operator that wrote it; of the store, for a changelog record. */
  readonly operator: string
  /** The number that stands as `millrace.txn` in the offset metadata of the same commit. */
  readonly transaction: number
  /** Source topic of the record whose processing wrote it; empty for a punctuation. */
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** Counts what one source record wrote, in all topics together, from 0. */
  readonly ordinal: number
  /**
   * Next offset of every input of the task when it was written, where there are several: with it the order in which
   * the task took its inputs is known.
   */
  readonly positions?: Readonly<Record<string, number>>
}

/** The bytes of the header: JSON, so that any consumer can show it. */
export function encodeProvenance(provenance: Provenance): Buffer {
  return Buffer.from(JSON.stringify(provenance))
}

/** What the header says; `undefined` without one, or for one that is none. */
export function readProvenance(headers: RecordHeaders): Provenance | undefined {
  const text = headers.getString(PROVENANCE_HEADER)
  if (text === undefined || text === null) return undefined
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  return isProvenance(parsed) ? parsed : undefined
}

const TEXTS = ['application', 'task', 'operator', 'topic'] as const
const NUMBERS = ['transaction', 'partition', 'offset', 'ordinal'] as const

function isProvenance(parsed: unknown): parsed is Provenance {
  if (typeof parsed !== 'object' || parsed === null) return false
  const fields = new Map(Object.entries(parsed))
  const { positions = {} } = parsed as { readonly positions?: unknown }
  return (
    TEXTS.every(name => typeof fields.get(name) === 'string') &&
    NUMBERS.every(name => Number.isSafeInteger(fields.get(name))) &&
    typeof positions === 'object' &&
    positions !== null &&
    Object.values(positions).every(Number.isSafeInteger)
  )
}
