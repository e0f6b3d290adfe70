import { transactionOwner } from '../engine/transaction-owner.ts'

/**
 * Those of the transactional ids that belong to an application. To fence another whose name begins alike would abort what
 * it is writing.
 *
 * @param groups - ids of the groups that the cluster knows
 */
export function ownTransactions(
  transactionalIds: readonly string[],
  applicationId: string,
  groups: readonly string[],
): readonly string[] {
  const known = new Set([applicationId, ...groups])
  return transactionalIds.filter(id => transactionOwner(id, known)?.applicationId === applicationId)
}
