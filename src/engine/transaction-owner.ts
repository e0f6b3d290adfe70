/** Whose transactional id it is, as far as names tell: `<application.id>-<instance>-<thread>`. */
export interface TransactionOwner {
  readonly applicationId: string
  /** Instance and thread, such as `host-1`; the `group.instance.id` of the member, where it is one of millrace's. */
  readonly instance: string
}

/**
 * The application that a transactional id belongs to: the longest group it begins with. The name of another application
 * may begin with the name of this one; its group tells that it is another.
 *
 * @param groups - ids of the groups that the cluster knows
 */
export function transactionOwner(transactionalId: string, groups: Iterable<string>): TransactionOwner | undefined {
  let applicationId: string | undefined
  for (const group of groups) {
    if (transactionalId.startsWith(`${group}-`) && group.length > (applicationId?.length ?? -1)) applicationId = group
  }
  return applicationId === undefined
    ? undefined
    : { applicationId, instance: transactionalId.slice(applicationId.length + 1) }
}
