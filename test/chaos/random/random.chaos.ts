import { expect } from 'chai'
import { type BrokerKind, useBroker } from '../../support/broker.ts'
import { integerBetween, seededRandom } from '../../../src/cli/demo/seeded-random.ts'
import { chaosSeed } from '../chaos-seed.ts'
import { ChaosRun } from './chaos-run.ts'

const KINDS: readonly BrokerKind[] = ['tv2', 'three', 'tv0', '3.9.1']

const seed = chaosSeed()
const minutes = Number(process.env['MILLRACE_CHAOS_MINUTES'] ?? '1')
const wanted = process.env['MILLRACE_CHAOS_BROKERS']
const kind =
  KINDS.find(one => one === wanted) ?? KINDS[integerBetween(seededRandom(seed + 2), 0, KINDS.length - 1)] ?? 'tv2'

describe(`random faults (seed ${String(seed)}, ${kind})`, function () {
  // Healing between rounds and the check at the end take their time beside the faults.
  this.timeout(minutes * 60_000 * 2 + 600_000)
  const kafka = useBroker(kind)

  it('leave every output as the committed input demands, seen so by a reader during the faults too (I1–I16)', async () => {
    const run = new ChaosRun({ seed, kafka: kafka(), durationMs: minutes * 60_000 })
    const report = await run.run()
    console.log(JSON.stringify({ ...report, seed, kind, minutes }, undefined, 2))
    expect(report.violations, `seed ${String(seed)}; logs in ${report.folder}`).to.deep.equal([])
    expect(Object.keys(report.sometimes.faults), 'kinds of faults that happened').not.to.deep.equal([])
    expect(report.records['ledger'], 'records of the ledger').to.be.greaterThan(0)
    expect(report.followed, 'records that the second reader saw').to.be.greaterThan(0)
  })
})
