import { sleep, type Clock } from '../../model/clock.ts'
import { asMillraceError, MillraceError } from '../../model/errors.ts'
import { Backoff } from '../cluster/backoff.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { Deadline } from '../cluster/deadline.ts'
import { reactionTo } from '../error-reactions.ts'
import { ERROR_CODE, kafkaErrorName } from '../protocol/error-codes.ts'

/** What the admin calls share. */
export interface AdminContext {
  readonly cluster: Cluster
  readonly clock: Clock
  /** Deadline of a call that names none, in milliseconds. */
  readonly timeoutMs: number
}

const BACKOFF_MS = 20
const BACKOFF_MAX_MS = 500
/** A slot for chance that an administrator's few calls do not need. */
const NO_SPREAD = (): number => 0.5

const AUTHORIZATION_FAILURES: ReadonlySet<number> = new Set([
  ERROR_CODE.TOPIC_AUTHORIZATION_FAILED,
  ERROR_CODE.GROUP_AUTHORIZATION_FAILED,
  ERROR_CODE.CLUSTER_AUTHORIZATION_FAILED,
  ERROR_CODE.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
])

/** Delays between the attempts of a call. */
export function adminBackoff(): Backoff {
  return new Backoff(BACKOFF_MS, BACKOFF_MAX_MS, NO_SPREAD)
}

/**
 * Repeats an attempt while its failure may pass, until the deadline; then throws that failure.
 *
 * @param attempt - throws `MillraceError`; one with the reaction `retry`, and a timed-out request, is tried again
 */
export async function untilAnswered<T>(
  { clock }: AdminContext,
  timeoutMs: number,
  attempt: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const deadline = new Deadline(clock, timeoutMs)
  const backoff = adminBackoff()
  for (;;) {
    const outcome = await attempt(deadline).then(value => ({ value }), asMillraceError)
    if (!(outcome instanceof MillraceError)) return outcome.value
    const delayMs = backoff.next()
    if (!mayPass(outcome) || deadline.remainingMs <= delayMs) throw outcome
    await sleep(clock, delayMs)
  }
}

/** Whether an admin call that failed so may be repeated; all of them can be, without doing anything twice. */
export function mayPass({ code, reaction }: MillraceError): boolean {
  return reaction === 'retry' || code === 'REQUEST_TIMED_OUT'
}

/** What an admin call was about. */
export interface AdminSubject {
  /** Completes "Cannot …", such as `create the topic orders`. */
  readonly doing: string
  readonly topic?: string
  readonly partition?: number
  /** Whether the failure passes by itself, though its code does not say so. @default false */
  readonly passes?: boolean
}

/** A broker's error answer to an admin call. */
export function adminFailure(kafkaCode: number, subject: AdminSubject, text: string | null = null): MillraceError {
  const { doing, passes = false, ...place } = subject
  const name = kafkaErrorName(kafkaCode)
  const what = `Cannot ${doing}: ${text === null || text === '' ? name : `${name}: ${text}`}`
  if (AUTHORIZATION_FAILURES.has(kafkaCode)) return new MillraceError('NOT_AUTHORIZED', { ...place, kafkaCode, what })
  if (kafkaCode === ERROR_CODE.UNKNOWN_TOPIC_OR_PARTITION) {
    return new MillraceError('TOPIC_MISSING', { ...place, kafkaCode, what })
  }
  const isRetried = passes || kafkaCode === ERROR_CODE.NOT_CONTROLLER || reactionTo(kafkaCode, 'metadata') === 'retry'
  return new MillraceError('KAFKA_ERROR', { ...place, kafkaCode, what, reaction: isRetried ? 'retry' : 'stop' })
}
