import { assert } from '../../model/assert.ts'
import { claimsOf, type AssignableMember, type AssignableUnit, type UnitClaim } from './unit-claims.ts'
import { quotasOf, type Quotas } from './assignment-quotas.ts'

export type { AssignableMember, AssignableUnit } from './unit-claims.ts'

/** What an assignment is computed from. */
export interface AssignmentInput {
  readonly members: readonly AssignableMember[]
  readonly units: readonly AssignableUnit[]
}

/**
 * Shares units out: balanced per group and overall, with as few moves as possible, and cooperatively (KIP-429): a unit
 * that a live member still claims is not given to another one in the same round. That member sees the unit missing in
 * its assignment, gives it up and rejoins, and the next round hands it on; so two rounds settle any change.
 *
 * The same members and units give the same answer in whatever order the members come: their order is that of
 * `groupInstanceId`, else of `memberId`.
 *
 * @returns every member's units, in order of the input; a unit still claimed by somebody else is nobody's
 */
export function assignSticky(input: AssignmentInput): ReadonlyMap<string, readonly AssignableUnit[]> {
  const members = input.members.toSorted(compareMembers)
  const { units } = input
  const assigned = members.map((): AssignableUnit[] => [])
  if (members.length > 0 && units.length > 0) {
    for (const member of members) {
      assert(Number.isInteger(member.capacity) && member.capacity >= 1, 'assignor capacity', {
        member: member.memberId,
      })
    }
    const claims = claimsOf(members, units)
    for (const [index, owner] of plan(members, units, claims).entries()) {
      const claim = claims[index]
      const unit = units[index]
      if (unit !== undefined && (claim === 'free' || claim === owner)) assigned[owner]?.push(unit)
    }
  }
  return new Map(members.map((member, index) => [member.memberId, assigned[index] ?? []]))
}

/** Where each unit shall end up, as an index into the members, whoever still claims it. */
function plan(
  members: readonly AssignableMember[],
  units: readonly AssignableUnit[],
  claims: readonly UnitClaim[],
): readonly number[] {
  const groups = [...new Set(units.map(unit => unit.group))].toSorted((a, b) => a - b)
  const groupIndexes = new Map(groups.map((group, index) => [group, index]))
  const groupOf = units.map(unit => groupIndexes.get(unit.group) ?? 0)
  const sizes = groups.map(() => 0)
  const owned = groups.map(() => members.map(() => 0))
  for (const [index, group] of groupOf.entries()) {
    const claim = claims[index]
    const counts = owned[group]
    sizes[group] = (sizes[group] ?? 0) + 1
    if (typeof claim === 'number' && counts !== undefined) counts[claim] = (counts[claim] ?? 0) + 1
  }
  const quotas = quotasOf(
    sizes,
    owned,
    members.map(member => member.capacity),
  )
  return fill(quotas, groupOf, claims)
}

/** Members keep what they claim up to their quota; what is left goes round those that lack something. */
function fill(quotas: Quotas, groupOf: readonly number[], claims: readonly UnitClaim[]): readonly number[] {
  const open = quotas.map(group => [...group])
  const owners = groupOf.map(() => -1)
  for (const [index, group] of groupOf.entries()) {
    const claim = claims[index]
    const left = open[group]
    if (typeof claim !== 'number' || left === undefined || (left[claim] ?? 0) === 0) continue
    left[claim] = (left[claim] ?? 0) - 1
    owners[index] = claim
  }
  const turns = open.map(() => 0)
  for (const [index, group] of groupOf.entries()) {
    if (owners[index] !== -1) continue
    const left = open[group] ?? []
    let member = turns[group] ?? 0
    for (let tries = 0; (left[member] ?? 0) === 0; tries += 1) {
      assert(tries < left.length, 'assignor quota', { group })
      member = (member + 1) % left.length
    }
    left[member] = (left[member] ?? 0) - 1
    turns[group] = (member + 1) % left.length
    owners[index] = member
  }
  return owners
}

function compareMembers(a: AssignableMember, b: AssignableMember): number {
  return (
    compareText(a.groupInstanceId ?? a.memberId, b.groupInstanceId ?? b.memberId) || compareText(a.memberId, b.memberId)
  )
}

/** By code units: a locale's order differs between machines. */
function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
