import { transactionOwner } from '../../engine/transaction-owner.ts'
import type { Admin } from '../../kafka/admin/admin.ts'
import type { GroupDescription } from '../../kafka/admin/group-admin.ts'
import type { MillraceErrorCode } from '../../model/error-table.ts'
import { asMillraceError } from '../../model/errors.ts'

/** Who a transactional id seems to belong to. */
export interface OwnerGuess {
  readonly application: string
  readonly instance: string
  /** Whether the group has a member of that instance id; `unknown` where members have none, as with Kafka Streams. */
  readonly member: 'alive' | 'gone' | 'unknown'
  /** Where that member runs. */
  readonly host: string | null
}

const WITHOUT_GROUP: ReadonlySet<MillraceErrorCode> = new Set<MillraceErrorCode>([
  'NOT_AUTHORIZED',
  'BROKER_UNREACHABLE',
  'CONNECTION_LOST',
  'REQUEST_TIMED_OUT',
])

/** Guesses owners by the groups of the cluster; each group is described once. */
export class OwnerDirectory {
  readonly #admin: Admin
  readonly #groups: ReadonlySet<string>
  readonly #described = new Map<string, Promise<GroupDescription | undefined>>()

  private constructor(admin: Admin, groups: ReadonlySet<string>) {
    this.#admin = admin
    this.#groups = groups
  }

  /** @param applicationId - one that may have no group any more */
  static async read(admin: Admin, applicationId?: string): Promise<OwnerDirectory> {
    const groups = (await admin.listGroups()).map(({ groupId }) => groupId)
    return new OwnerDirectory(admin, new Set(applicationId === undefined ? groups : [applicationId, ...groups]))
  }

  /** Of one application at most, while brokers are away and their groups with them. */
  static ofApplication(admin: Admin, applicationId: string | undefined): OwnerDirectory {
    return new OwnerDirectory(admin, new Set(applicationId === undefined ? [] : [applicationId]))
  }

  /** `undefined` where no group has a name that the id begins with. */
  async of(transactionalId: string): Promise<OwnerGuess | undefined> {
    const owner = transactionOwner(transactionalId, this.#groups)
    if (owner === undefined) return undefined
    const { applicationId, instance } = owner
    const group = await this.#describe(applicationId)
    const member = group?.members.find(({ groupInstanceId }) => groupInstanceId === instance)
    const guess = { application: applicationId, instance }
    if (member !== undefined) return { ...guess, member: 'alive', host: member.host.replace(/^\//, '') }
    const tells = group?.members.every(({ groupInstanceId }) => groupInstanceId !== null) === true
    return { ...guess, member: tells ? 'gone' : 'unknown', host: null }
  }

  #describe(group: string): Promise<GroupDescription | undefined> {
    let description = this.#described.get(group)
    if (description === undefined) {
      description = this.#admin.describeGroup(group).catch((error: unknown) => {
        // A guess may do without: whoever may not see the group, or finds its coordinator away, still sees the transaction.
        if (WITHOUT_GROUP.has(asMillraceError(error).code)) return undefined
        throw error
      })
      this.#described.set(group, description)
    }
    return description
  }
}

const LIVES: Readonly<Record<OwnerGuess['member'], string>> = {
  alive: 'alive',
  gone: 'no such member in its group',
  unknown: 'alive or not',
}

/** The guess in a few words. */
export function ownerText(owner: OwnerGuess | undefined): string {
  if (owner === undefined) return 'unknown'
  const { application, instance, member, host } = owner
  return `application ${application}, instance ${instance} (${LIVES[member]}${host === null ? '' : ` at ${host}`})`
}
