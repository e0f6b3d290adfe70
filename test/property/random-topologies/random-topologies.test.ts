import { expect } from 'chai'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { operators, records } from './arbitrary.ts'
import { descriptionOf } from './description.ts'
import { eventsOf, type Piped } from './events.ts'
import { planOf, sourcesOf, type Step } from './plan.ts'
import { modelRunOf, runOf, type Outcome } from './runs.ts'

/** Cases per property; CONTRIBUTING.md tells how to have more. */
const numRuns = Number(process.env['RANDOM_TOPOLOGIES'] ?? 250)

describe('random topologies', function () {
  this.timeout(0)

  it('give what a naive model of them gives', () => {
    check((steps, events) => {
      const calm = undisturbed(events)
      return [runOf(steps, calm), modelRunOf(steps, calm)]
    })
  })

  it('begin again after an abort or a restart as the model does', () => {
    check((steps, events) => [runOf(steps, events), modelRunOf(steps, events)])
  })

  it('give the same results over any aborts and restarts (I13)', () => {
    check((steps, events) => [
      resultsOf(runOf(steps, apart(events), { 'topology.optimization': 'reuse.ktable.source.topics' })),
      resultsOf(modelRunOf(steps, undisturbed(events))),
    ])
  })
})

/** Compares what a run of a random topology over random records gives with what it should. */
function check(outcomesOf: (steps: readonly Step[], events: readonly Piped[]) => readonly [unknown, unknown]): void {
  fc.assert(
    fc.property(operators, records, (drawnOperators, drawnRecords) => {
      const steps = planOf(drawnOperators)
      const events = eventsOf(drawnRecords, sourcesOf(steps))
      const [actual, expected] = outcomesOf(steps, events)
      if (isDeepStrictEqual(actual, expected)) return
      // Written out: what is thrown here is told by its message alone.
      const [found, wanted] = [actual, expected].map(outcome => JSON.stringify(outcome, undefined, 1))
      expect.fail(`${descriptionOf(steps, events)}gave\n${String(found)}\ninstead of\n${String(wanted)}`)
    }),
    { numRuns },
  )
}

function undisturbed(events: readonly Piped[]): readonly Piped[] {
  return events.map(event => ({ ...event, after: 'nothing' }))
}

/** Each record that is processed again is processed alone: of several the order would be another than that of their arrival. */
function apart(events: readonly Piped[]): readonly Piped[] {
  return events.map(event => ({ ...event, isApart: event.after === 'abort' || event.after === 'restart' }))
}

function resultsOf({ topics, stores }: Outcome): unknown {
  return { topics, stores }
}
