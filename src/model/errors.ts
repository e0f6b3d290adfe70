import type { ErrorDefinition, Reaction } from './error-definition.ts'
import { ERRORS, type MillraceErrorCode } from './error-table.ts'

/** What is known about an error beside its code. */
export interface MillraceErrorDetails {
  /** What caused it. */
  readonly cause?: unknown
  /** What happened in this instance, one sentence; replaces the general cause in the message. */
  readonly what?: string
  /** What to do in this instance; replaces the general action. */
  readonly action?: string
  /** Topic concerned. */
  readonly topic?: string
  /** Partition concerned. */
  readonly partition?: number
  /** Offset concerned. */
  readonly offset?: number
  /** Task concerned, `<subtopology>_<partition>`. */
  readonly task?: string
  /** Source, operator, store or sink concerned. */
  readonly node?: string
  /** Place in the YAML file, `file:line:column`. */
  readonly position?: string
  /** Kafka's error code that led here. */
  readonly kafkaCode?: number
  /** Overrides the table's reaction where the same error asks for another one. */
  readonly reaction?: Reaction
}

/** Known to every copy of millrace in the process. */
const MARK = Symbol.for('millrace.error')

/** The only error class thrown or reported by millrace. Kafka Streams: `StreamsException` and its many subclasses. */
export class MillraceError extends Error {
  override readonly name = 'MillraceError'
  readonly [MARK] = true
  /** Which error it is; `docs/errors.md` explains each. */
  readonly code: MillraceErrorCode
  /** What the engine does about it. */
  readonly reaction: Reaction
  /** What the operator can do about it, one or two sentences. */
  readonly action: string
  /** What is known about it. */
  readonly details: MillraceErrorDetails

  constructor(code: MillraceErrorCode, details: MillraceErrorDetails = {}) {
    const definition: ErrorDefinition = ERRORS[code]
    super(messageOf(definition, details), details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.reaction = details.reaction ?? definition.reaction
    this.action = details.action ?? definition.operator
    this.details = details
  }

  /** Serdes and steps may come from another copy of millrace than the engine; what they throw is the same error to it. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && MARK in value
  }

  /** Exit code of the service when this error ends it (docs/operations.md). */
  get exitCode(): number {
    return ERRORS[this.code].exitCode
  }
}

/** Any thrown value as a `MillraceError`; what is none already becomes `INTERNAL`. */
export function asMillraceError(thrown: unknown): MillraceError {
  return thrown instanceof MillraceError
    ? thrown
    : new MillraceError('INTERNAL', { cause: thrown, what: reasonOf(thrown) })
}

/** The text of any thrown value, bounded, on one line. */
export function reasonOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  const oneLine = text.replaceAll(/[\r\n]+/g, ' ')
  return oneLine.length > REASON_CHARACTERS_MAX ? `${oneLine.slice(0, REASON_CHARACTERS_MAX)}…` : oneLine
}

/** Longer texts come from record bytes or foreign libraries and would flood a log. */
const REASON_CHARACTERS_MAX = 1_000

function messageOf(definition: ErrorDefinition, details: MillraceErrorDetails): string {
  const what = details.what ?? definition.cause
  const where = [
    details.position,
    details.task === undefined ? undefined : `task ${details.task}`,
    details.node === undefined ? undefined : `node ${details.node}`,
    details.topic === undefined ? undefined : placeOf(details.topic, details),
  ].filter(part => part !== undefined)
  const because = details.cause === undefined || details.what !== undefined ? '' : `: ${reasonOf(details.cause)}`
  return `${where.length === 0 ? '' : `${where.join(', ')}: `}${what}${because}`
}

function placeOf(topic: string, { partition, offset }: MillraceErrorDetails): string {
  const at = partition === undefined ? topic : `${topic}-${String(partition)}`
  return offset === undefined ? at : `${at} at offset ${String(offset)}`
}
