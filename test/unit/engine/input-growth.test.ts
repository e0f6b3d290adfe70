import { expect } from 'chai'
import { InputGrowth } from '../../../src/engine/input-growth.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { string } from '../../../src/serdes/text.ts'
import type { ApplicationPlan } from '../../../src/topology/plan.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { Answers, planOf } from './engine-fakes.ts'

const text = { key: string, value: string }
const STATELESS = planOf(builder => builder.stream('in', text).to('out'))
const COUNTING = planOf(builder =>
  builder.stream('in', text).groupByKey().count({ store: 'counts' }).toStream().to('out'),
)

class GrowthBench {
  readonly clock = new ManualClock()
  wakes = 0
  asked = 0
  readonly #counts: Answers<ReadonlyMap<string, number>>
  readonly growth: InputGrowth

  constructor(plan: ApplicationPlan, ...counts: readonly (number | Error)[]) {
    this.#counts = new Answers(...counts.map(count => (count instanceof Error ? count : new Map([['in', count]]))))
    this.growth = new InputGrowth({
      plan,
      counts: async () => {
        this.asked += 1
        await Promise.resolve()
        return this.#counts.next()
      },
      clock: this.clock,
      logger: SILENT_LOGGER,
      onWake: () => {
        this.wakes += 1
      },
    })
  }

  /** Lets a look begin, and end. */
  async turn(): Promise<void> {
    this.growth.look()
    await this.clock.advance(1_000)
  }
}

describe('growth of an input', () => {
  it('is told once, and wakes the loop', async () => {
    const bench = new GrowthBench(STATELESS, 2, 3)
    await bench.turn()
    expect([bench.growth.look(), bench.wakes]).to.deep.equal([false, 0])
    await bench.clock.advance(1_000)
    expect([bench.growth.look(), bench.wakes]).to.deep.equal([true, 1])
    await bench.turn()
    expect(bench.growth.look()).to.equal(false)
  })

  it('stops an application whose state is placed by partition', async () => {
    const bench = new GrowthBench(COUNTING, 2, 3)
    await bench.turn()
    await bench.turn()
    const error = await rejectionOf(Promise.resolve().then(() => bench.growth.look()))
    expect(error.code).to.equal('TOPIC_MISMATCH')
    expect(error.message).to.include('in').and.to.include('3 partitions')
  })

  it('is not what a broker says that lags behind, or cannot say', async () => {
    const bench = new GrowthBench(COUNTING, 3, 2, new Error('away'), 3)
    for (let turn = 0; turn < 5; turn += 1) await bench.turn()
    expect(bench.growth.look()).to.equal(false)
    expect(bench.wakes).to.equal(0)
  })

  it('is asked for once a second, however often the loop turns', async () => {
    const bench = new GrowthBench(STATELESS, 2)
    for (let turn = 0; turn < 10; turn += 1) {
      bench.growth.look()
      await bench.clock.advance(100)
    }
    expect(bench.asked).to.equal(1)
  })
})
