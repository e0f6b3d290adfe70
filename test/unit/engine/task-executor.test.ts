import { expect } from 'chai'
import type { ActiveTask } from '../../../src/engine/active-task.ts'
import type { AdmittedBlock, CommitStrategy } from '../../../src/engine/commit-strategy.ts'
import { UnresolvedTopic } from '../../../src/engine/record-collector.ts'
import { TaskExecutor } from '../../../src/engine/task-executor.ts'
import { ThreadMetrics } from '../../../src/engine/thread-metrics.ts'
import type { FetchedBlock } from '../../../src/kafka/fetcher/fetcher.ts'
import { MillraceError } from '../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { rejectionOf } from '../../support/rejection.ts'

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

  it('tells of the records of other tasks where one meets a topic that nobody has looked up, and of the topic once', () => {
    const { task } = taskOf(clock, 3, () => 0)
    const waiting = {
      task: {
        process: () => {
          throw new UnresolvedTopic('late')
        },
      },
    } as unknown as ActiveTask
    const both = executor()
    expect(both.process([task, waiting], ANY)).to.equal(3)
    expect([both.takeUnresolvedTopic(), both.takeUnresolvedTopic()]).to.deep.equal(['late', undefined])
  })

  it('lets records wait for a punctuation that waits for a topic', () => {
    const { task } = taskOf(clock, 3, () => 0)
    const punctuating = {
      task: {
        punctuate: () => {
          throw new UnresolvedTopic('late')
        },
      },
    } as unknown as ActiveTask
    const both = executor()
    both.punctuate([punctuating])
    expect(both.process([task], ANY)).to.equal(0)
    expect(both.takeUnresolvedTopic()).to.equal('late')
    expect(both.process([task], ANY)).to.equal(3)
  })

  it('hides no failure but a topic that is to be looked up', () => {
    const failure = new MillraceError('PROCESSING_FAILED')
    const fail = (): never => {
      throw failure
    }
    const failing = { task: { process: fail, punctuate: fail } } as unknown as ActiveTask
    const one = executor()
    expect(() => one.process([failing], ANY)).to.throw(failure)
    expect(() => {
      one.punctuate([failing])
    }).to.throw(failure)
    expect(one.takeUnresolvedTopic()).to.equal(undefined)
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

  describe('that gives offsets away first (at_most_once)', () => {
    const IN = { topic: 'in', partition: 0 }

    /** A task that is handed one block, whose offsets are given away as the answers say. */
    class Admissions {
      readonly fed: number[] = []
      readonly asked: number[] = []
      readonly answers: (MillraceError | 'done')[] = []
      readonly input = { topicPartition: IN, rewindTo: 10, leaderEpoch: () => -1 }
      readonly #blocks = [{ endOffset: 25, bytes: 1, cursor: { batchLeaderEpoch: 3 } }]
      readonly #task = {
        state: 'running' as ActiveTask['state'],
        inputs: [this.input],
        task: { queued: () => false, enqueue: () => this.fed.push(this.input.leaderEpoch()) },
      }
      readonly #executor = new TaskExecutor({
        fetcher: { take: () => this.#blocks.shift() as unknown as FetchedBlock | undefined },
        clock,
        strategy: {
          admit: async (blocks: readonly AdmittedBlock[]) => {
            this.asked.push(...blocks.map(({ endOffset }) => endOffset))
            await Promise.resolve()
            const answer = this.answers.shift()
            if (answer instanceof MillraceError) throw answer
          },
        } as unknown as CommitStrategy,
        metrics: new ThreadMetrics(SILENT_LOGGER),
      })

      set state(state: ActiveTask['state']) {
        this.#task.state = state
      }

      async feed(): Promise<void> {
        await this.#executor.feed([this.#task as unknown as ActiveTask])
      }
    }

    it('offers a block again whose offsets could not be given away: nobody fetches it a second time', async () => {
      const admissions = new Admissions()
      admissions.answers.push(new MillraceError('REQUEST_TIMED_OUT'))
      expect((await rejectionOf(admissions.feed())).code).to.equal('REQUEST_TIMED_OUT')
      expect(admissions.fed).to.deep.equal([])

      await admissions.feed()
      await admissions.feed()
      expect(admissions.asked).to.deep.equal([25, 25])
      expect(admissions.fed).to.deep.equal([3])
    })

    it('forgets such a block with its task, and where reading has jumped over it', async () => {
      for (const forget of [
        (admissions: Admissions) => (admissions.state = 'closed'),
        (admissions: Admissions) => (admissions.input.rewindTo = 25),
      ]) {
        const admissions = new Admissions()
        admissions.answers.push(new MillraceError('MEMBERSHIP_LOST'))
        await rejectionOf(admissions.feed())
        forget(admissions)

        await admissions.feed()
        expect(admissions.asked).to.deep.equal([25])
        expect(admissions.fed).to.deep.equal([])
      }
    })
  })
})
