/**
 * Those of the transactional ids that belong to an application: `<application.id>-<instance>-<thread>`. The name of
 * another application may begin with the name of this one; its group tells that it is another, and to fence it would
 * abort what it is writing.
 *
 * @param groups - ids of the groups that the cluster knows
 */
export function ownTransactions(
  transactionalIds: readonly string[],
  applicationId: string,
  groups: readonly string[],
): readonly string[] {
  const longer = groups.filter(group => group.startsWith(`${applicationId}-`))
  return transactionalIds.filter(
    id => id.startsWith(`${applicationId}-`) && !longer.some(group => id.startsWith(`${group}-`)),
  )
}
