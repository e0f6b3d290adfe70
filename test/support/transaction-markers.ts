import type { Admin } from '../../src/kafka/admin/admin.ts'
import { eventually } from './condition.ts'

/** Answered for, but not marked yet in every partition. */
const BEING_MARKED = ['PrepareCommit', 'PrepareAbort'] as const

/**
 * Waits until transactions that were ended have their markers in every partition. A coordinator answers EndTxn before it
 * writes them, and the offsets of a transaction may show before its records do: whoever reads committed records after
 * either has to wait for this, or may not see the last of them.
 *
 * @param prefix - which transactional ids to wait for; those of an application begin with its id and a hyphen
 */
export async function untilMarked(admin: Admin, prefix: string, timeoutMs?: number): Promise<void> {
  await eventually(
    `the transactions of ${prefix} are marked`,
    async () => {
      const ended = await admin.listTransactions({ states: BEING_MARKED })
      return !ended.some(({ transactionalId }) => transactionalId.startsWith(prefix))
    },
    timeoutMs,
  )
}
