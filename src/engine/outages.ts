import type { MillraceError } from '../model/errors.ts'
import type { MillraceErrorCode } from '../model/error-table.ts'

/** Of these an outage of brokers may bring any number: they are waited out. */
const OUTAGES: ReadonlySet<MillraceErrorCode> = new Set<MillraceErrorCode>([
  'REQUEST_TIMED_OUT',
  'CONNECTION_LOST',
  'COMMIT_OUTCOME_UNKNOWN',
  'TRANSACTION_TIMED_OUT',
  'MEMBERSHIP_LOST',
])

/** Whether a failure is one that brokers cause while they are away, and that passes when they are back. */
export function isOutage({ code }: MillraceError): boolean {
  return OUTAGES.has(code)
}
