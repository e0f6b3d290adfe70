import { assert } from '../../model/assert.ts'

/** How many units of each group each member shall have: `quotas[group][member]`. */
export type Quotas = readonly (readonly number[])[]

interface Rounding {
  /** Whole part of each member's share of the group. */
  readonly floor: readonly number[]
  /** Whether the share has a fraction, so that the member may get one unit more. */
  readonly mayHaveMore: readonly boolean[]
  /** Whether the member keeps a unit it already has by getting one more. */
  readonly sticks: readonly boolean[]
  /** The decision: one unit more than the whole part. */
  readonly more: boolean[]
}

/**
 * Rounds every member's share of every group to whole units, so that each group is balanced (each member has its share
 * rounded down or up), the totals over all groups are too, and as few units as possible change hands.
 *
 * Each group first gives its left-over units to members that already have one; then the totals are evened out by passing
 * such units on along the cheapest chain of members, which is a minimum-cost flow. What a balanced group already owns
 * is thus a cheapest answer, and a second round never undoes the first.
 *
 * @param sizes - units in each group
 * @param owned - `owned[group][member]`: units that the member would keep
 * @param capacities - weight of each member, whole and at least 1
 */
export function quotasOf(
  sizes: readonly number[],
  owned: readonly (readonly number[])[],
  capacities: readonly number[],
): Quotas {
  const capacity = sum(capacities)
  const totals = capacities.map(() => 0)
  const roundings = sizes.map((size, group) => roundGroup(size, owned[group] ?? [], capacities, totals))
  const size = sum(sizes)
  const least = capacities.map(own => Math.floor((size * own) / capacity))
  const most = capacities.map(own => Math.ceil((size * own) / capacity))
  evenOut(roundings, totals, most, 'above')
  evenOut(roundings, totals, least, 'below')
  return roundings.map(({ floor, more }) => floor.map((whole, member) => whole + (more[member] === true ? 1 : 0)))
}

/** Rounds one group alone, for stickiness first, then for the totals so far (which it adds to). */
function roundGroup(size: number, owned: readonly number[], capacities: readonly number[], totals: number[]): Rounding {
  const capacity = sum(capacities)
  const floor = capacities.map(own => Math.floor((size * own) / capacity))
  const mayHaveMore = capacities.map(own => (size * own) % capacity !== 0)
  const sticks = floor.map((whole, member) => mayHaveMore[member] === true && (owned[member] ?? 0) > whole)
  const more = floor.map(() => false)
  const byPreference = [...floor.keys()]
    .filter(member => mayHaveMore[member] === true)
    .toSorted((a, b) => rank(sticks, a) - rank(sticks, b) || load(totals, capacities, a) - load(totals, capacities, b))
  for (const member of byPreference.slice(0, size - sum(floor))) more[member] = true
  floor.forEach((whole, member) => {
    totals[member] = (totals[member] ?? 0) + whole + (more[member] === true ? 1 : 0)
  })
  return { floor, mayHaveMore, sticks, more }
}

function rank(sticks: readonly boolean[], member: number): number {
  return sticks[member] === true ? 0 : 1
}

function load(totals: readonly number[], capacities: readonly number[], member: number): number {
  return (totals[member] ?? 0) / (capacities[member] ?? 1)
}

/**
 * Passes left-over units on until no total is `above` (or `below`) its limit. That a chain exists follows from the
 * integrality of flows: the exact shares are a fractional solution.
 */
function evenOut(
  roundings: readonly Rounding[],
  totals: number[],
  limits: readonly number[],
  side: 'above' | 'below',
): void {
  const excess = (member: number): number => (totals[member] ?? 0) - (limits[member] ?? 0)
  for (const member of totals.keys()) {
    while (side === 'above' ? excess(member) > 0 : excess(member) < 0) {
      const giver = side === 'above' ? (other: number) => other === member : (other: number) => excess(other) > 0
      const taker = side === 'above' ? (other: number) => excess(other) < 0 : (other: number) => other === member
      const path = cheapestPath(roundings, totals.length, giver, taker)
      assert(path !== undefined, 'assignor balance', { member, total: totals[member], limit: limits[member] })
      passOn(roundings, path)
      const first = path[0]?.from ?? member
      const last = path.at(-1)?.to ?? member
      totals[first] = (totals[first] ?? 0) - 1
      totals[last] = (totals[last] ?? 0) + 1
    }
  }
}

/** One left-over unit of a group goes from one member to another. */
interface Transfer {
  readonly from: number
  readonly to: number
  readonly group: number
}

/** The chain of transfers from a giver to a taker that breaks the least stickiness (Bellman-Ford over the members). */
function cheapestPath(
  roundings: readonly Rounding[],
  memberCount: number,
  isGiver: (member: number) => boolean,
  isTaker: (member: number) => boolean,
): readonly Transfer[] | undefined {
  const costs = Array.from({ length: memberCount }, (_, member) => (isGiver(member) ? 0 : Number.POSITIVE_INFINITY))
  const arrivals = new Map<number, Transfer>()
  // A shortest chain visits each member once, so more passes than members would mean a cycle that gains: there is none.
  for (let pass = 0, changed = true; changed; pass += 1) {
    assert(pass <= memberCount, 'assignor stickiness', { pass })
    changed = false
    for (const [group, rounding] of roundings.entries()) {
      if (relax(group, rounding, costs, arrivals)) changed = true
    }
  }
  let end: number | undefined
  for (const [member, cost] of costs.entries()) {
    if (isTaker(member) && cost < (end === undefined ? Number.POSITIVE_INFINITY : (costs[end] ?? 0))) end = member
  }
  if (end === undefined) return undefined
  const path: Transfer[] = []
  for (let member = end, step = arrivals.get(member); step !== undefined; step = arrivals.get(member)) {
    path.unshift(step)
    member = step.from
    assert(path.length <= memberCount, 'assignor chain', { end })
  }
  return path
}

/** Offers the group's cheapest left-over unit to every member that may still get one. */
function relax(group: number, rounding: Rounding, costs: number[], arrivals: Map<number, Transfer>): boolean {
  let from: number | undefined
  let cost = Number.POSITIVE_INFINITY
  for (const [member, has] of rounding.more.entries()) {
    const giving = has ? (costs[member] ?? cost) + (rounding.sticks[member] === true ? 1 : 0) : cost
    if (giving < cost) {
      cost = giving
      from = member
    }
  }
  if (from === undefined) return false
  let changed = false
  for (const [member, has] of rounding.more.entries()) {
    if (has || rounding.mayHaveMore[member] !== true) continue
    const reached = cost - (rounding.sticks[member] === true ? 1 : 0)
    if (reached >= (costs[member] ?? 0)) continue
    costs[member] = reached
    arrivals.set(member, { from, to: member, group })
    changed = true
  }
  return changed
}

function passOn(roundings: readonly Rounding[], path: readonly Transfer[]): void {
  for (const { from, to, group } of path) {
    const more = roundings[group]?.more
    assert(more !== undefined && more[from] === true && more[to] === false, 'assignor transfer', { from, to, group })
    more[from] = false
    more[to] = true
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
