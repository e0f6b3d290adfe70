import { expect } from 'chai'
import type { ActiveTask } from '../../../src/engine/active-task.ts'
import type { CommitStrategy } from '../../../src/engine/commit-strategy.ts'
import { TaskExecutor } from '../../../src/engine/task-executor.ts'
import { ThreadMetrics } from '../../../src/engine/thread-metrics.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'

/** Time that only the steps of a task spend. */
class StepTime {
  #nowMs = 1_000

  nowMs(): number {
    return this.#nowMs
  }

  spend(ms: number): void {
    this.#nowMs += ms
  }
}

/** A task whose steps take their time, as far as the executor looks at it. */
function taskOf(
  clock: StepTime,
  records: number,
  msPerRecord: () => number,
): { readonly task: ActiveTask; left: number } {
  const state = { left: records, task: undefined as unknown as ActiveTask }
  const process = (max: number): number => {
    const taken = Math.min(max, state.left)
    state.left -= taken
    for (let index = 0; index < taken; index += 1) clock.spend(msPerRecord())
    return taken
  }
  state.task = { task: { process } } as unknown as ActiveTask
  return state
}

const ANY = Number.POSITIVE_INFINITY

describe('task executor', () => {
  const clock = new StepTime()
  const executor = (): TaskExecutor =>
    new TaskExecutor({
      fetcher: { take: () => undefined },
      clock,
      strategy: { admit: () => undefined } as unknown as CommitStrategy,
      metrics: new ThreadMetrics(SILENT_LOGGER),
    })

  it('gives the loop a turn after one record where each is slow, from the first chunk on (case 31)', () => {
    const { task } = taskOf(clock, 500, () => 200)
    const slow = executor()
    expect([slow.process([task], ANY), slow.process([task], ANY), slow.process([task], ANY)]).to.deep.equal([1, 1, 1])
  })

  it('notices within sixteen records that steps have turned slow', () => {
    let ms = 0
    const { task } = taskOf(clock, 10_000, () => ms)
    const turning = executor()
    expect(turning.process([task], ANY)).to.be.greaterThan(1_000)
    ms = 200
    const chunks = [1, 2, 3, 4, 5, 6].map(() => turning.process([task], ANY))
    expect(chunks).to.deep.equal([16, 8, 4, 2, 1, 1])
  })

  it('takes large chunks of quick records, and every record once', () => {
    const state = taskOf(clock, 5_000, () => 0.001)
    const quick = executor()
    let processed = 0
    let turns = 0
    while (state.left > 0) {
      processed += quick.process([state.task], ANY)
      turns += 1
    }
    expect(processed).to.equal(5_000)
    expect(turns).to.be.at.most(6)
  })

  it('gives each task its part where the transaction may take only so many records', () => {
    const states = [taskOf(clock, 500, () => 0.001), taskOf(clock, 3, () => 0.001), taskOf(clock, 500, () => 0.001)]
    const bounded = executor()
    expect(
      bounded.process(
        states.map(({ task }) => task),
        100,
      ),
    ).to.equal(33 + 3 + 33)
    expect(states.map(({ left }) => left)).to.deep.equal([467, 0, 467])
  })

  it('takes no record more than are left, with more tasks than records', () => {
    const states = [1, 2, 3].map(() => taskOf(clock, 500, () => 0.001))
    const tasks = states.map(({ task }) => task)
    expect([executor().process(tasks, 2), executor().process(tasks, 0)]).to.deep.equal([2, 0])
  })
})
