import { expect } from 'chai'
import { orderBytes, planOrders, type PlannedTransaction } from '../../../../src/cli/demo/order-plan.ts'
import { seededRandom } from '../../../../src/cli/demo/seeded-random.ts'
import {
  checkChangelog,
  checkDeadLetters,
  checkTotals,
  countedOrders,
  poisonedOrders,
  type FoundRecord,
} from '../../../../src/cli/demo/totals-check.ts'

/** What a faultless application writes for a plan. */
function faultless(plan: readonly PlannedTransaction[]): FoundRecord[] {
  return [...countedOrders(plan)].flatMap(([customer, orders]) => {
    let cents = 0
    return orders.map((order, index) => {
      cents += order.cents
      return { key: Buffer.from(customer), value: Buffer.from(JSON.stringify({ orders: index + 1, cents })) }
    })
  })
}

describe('checker of the demo', () => {
  const plan = planOrders({ random: seededRandom(7), records: 3_000 })
  const expected = countedOrders(plan)
  const outputs = faultless(plan)
  const none = { duplicates: 0, lost: 0, wrong: 0 }

  it('finds nothing in what a faultless application writes', () => {
    expect(checkTotals(expected, outputs)).to.include(none)
  })

  it('lets orders of one customer come in another order', () => {
    const reversed = plan.toReversed().map(({ aborted, orders }) => ({ aborted, orders: orders.toReversed() }))
    expect(checkTotals(expected, faultless(reversed))).to.include(none)
  })

  it('sees a lost output', () => {
    const findings = checkTotals(expected, outputs.toSpliced(1_000, 1))
    expect(findings.lost + findings.wrong).to.be.greaterThan(0)
  })

  it('sees a lost tail, though the rest is right', () => {
    expect(checkTotals(expected, outputs.slice(0, -1))).to.include({ ...none, lost: 1 })
  })

  it('sees an output that was written twice', () => {
    const twice = outputs.toSpliced(500, 0, ...outputs.slice(500, 501))
    expect(checkTotals(expected, twice)).to.include({ ...none, duplicates: 1 })
  })

  it('sees an order that was counted twice', () => {
    const [customer, orders] = [...expected][0] ?? ['', []]
    const doubled = new Map(expected).set(customer, [...orders, ...orders.slice(-1)])
    const written = faultless([{ aborted: false, orders: [...doubled.values()].flat() }])
    expect(checkTotals(expected, written).duplicates).to.be.greaterThan(0)
  })

  it('sees an order of an aborted transaction that was counted', () => {
    const dirty = plan.map(({ orders }) => ({ aborted: false, orders }))
    expect(checkTotals(expected, faultless(dirty)).wrong).to.be.greaterThan(0)
  })

  it('sees a wrong sum behind a right count', () => {
    const last = outputs.at(-1)
    const wrong = { key: last?.key ?? null, value: Buffer.from('{"orders":1,"cents":1}') }
    expect(checkTotals(expected, [wrong]).wrong).to.equal(1)
  })

  it('wants each poisoned order as a dead letter exactly once', () => {
    const poisoned = poisonedOrders(plan)
    const letters = poisoned.map(order => orderBytes(order))
    expect(new Set(poisoned.map(({ poison }) => poison)).size).to.equal(4)
    expect(checkDeadLetters(poisoned, letters)).to.include(none)
    expect(checkDeadLetters(poisoned, letters.slice(1))).to.include({ ...none, lost: 1 })
    expect(checkDeadLetters(poisoned, [...letters, ...letters.slice(0, 1)])).to.include({ ...none, duplicates: 1 })
    const good = plan.flatMap(({ orders }) => orders).find(({ poison }) => poison === undefined)
    expect(checkDeadLetters(poisoned, [...letters, ...(good === undefined ? [] : [orderBytes(good)])]).wrong).to.equal(
      1,
    )
  })

  it('compares the changelog with the totals', () => {
    expect(checkChangelog(expected, outputs)).to.include(none)
    expect(checkChangelog(expected, outputs.slice(0, -1)).wrong).to.equal(1)
  })
})

describe('plan of the demo', () => {
  it('is the same for the same seed, and has the asked number of committed records', () => {
    const plan = planOrders({ random: seededRandom(3), records: 2_000 })
    expect(planOrders({ random: seededRandom(3), records: 2_000 })).to.deep.equal(plan)
    expect(planOrders({ random: seededRandom(4), records: 2_000 })).not.to.deep.equal(plan)
    expect(plan.filter(({ aborted }) => !aborted).flatMap(({ orders }) => orders)).to.have.length(2_000)
    expect(plan.some(({ aborted }) => aborted)).to.equal(true)
  })
})
