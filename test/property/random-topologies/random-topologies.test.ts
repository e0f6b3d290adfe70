import { expect } from 'chai'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { operators, records } from './arbitrary.ts'
import { storeOf } from './build.ts'
import { descriptionOf } from './description.ts'
import type { StreamsProperties } from '../../../src/topology/properties.ts'
import { eventsOf, type Piped } from './events.ts'
import { lengthOf, planOf, topicsOf, storeKindOf, type Step } from './plan.ts'
import { modelRunOf, runOf, type Outcome } from './runs.ts'
import { withFailures } from './user-functions.ts'

/**
 * Optimizations that change no result. Of what is as old as its store keeps it, one store for both sides of a join forgets
 * other records than two do, as in the JVM: the first of two has taken in the next record before it is searched.
 */
function optimizedFor(steps: readonly Step[], events: readonly Piped[]): Partial<StreamsProperties> {
  const kept = steps.map(({ operation: o }) => (o.kind === 'streamJoin' ? o.before + o.after + o.grace : Infinity))
  const isAllKept = spanOf(events) < Math.min(...kept) - 1
  const reused = 'reuse.ktable.source.topics'
  return { 'topology.optimization': isAllKept ? `${reused},single.store.self.join` : reused }
}

function spanOf(events: readonly Piped[]): number {
  const times = events.map(({ time }) => time)
  return Math.max(...times) - Math.min(...times)
}

/** Caches: one that holds everything back until a commit, and one that is soon full. */
const CACHE_BYTES = [100_000, 400]

/** Cases per property; CONTRIBUTING.md tells how to have more. */
const numRuns = Number(process.env['RANDOM_TOPOLOGIES'] ?? 150)

describe('random topologies', function () {
  this.timeout(60_000 + numRuns * 1_000)

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
      resultsOf(runOf(steps, apart(steps, events), { streams: optimizedFor(steps, events) })),
      resultsOf(modelRunOf(steps, undisturbed(events))),
    ])
  })

  it('keep nothing of a record that fails and is skipped (I13)', () => {
    check((steps, events) =>
      withFailures(() => [
        skippedOf(runOf(steps, events, { errors: { processing: 'skip' } })),
        skippedOf(modelRunOf(steps, events, true)),
      ]),
    )
  })

  it('hold the same results in the end where a cache holds back updates, and have told the last of each key', () => {
    check((drawn, events) => {
      const steps = withoutStops(drawn)
      const sums = cachedFirst(steps, events)
      if (sums.length === 0) return [[], []]
      const cached = CACHE_BYTES.map(bytes =>
        runOf(steps, apart(steps, events), { streams: { 'statestore.cache.max.bytes': bytes } }),
      )
      const { stores, topics } = modelRunOf(steps, undisturbed(events))
      const written = sums.filter(({ isWritten }) => isWritten)
      return [
        cached.map(outcome => [pick(shownIn(outcome.stores, stores), sums), lastOf(outcome.topics, written)]),
        cached.map(() => [pick(stores, sums), lastOf(topics, written)]),
      ]
    })
  })
})

/** Compares what a run of a random topology over random records gives with what it should. */
function check(outcomesOf: (steps: readonly Step[], events: readonly Piped[]) => readonly [unknown, unknown]): void {
  fc.assert(
    fc.property(operators, records, (drawnOperators, drawnRecords) => {
      const steps = planOf(drawnOperators)
      const events = eventsOf(drawnRecords, topicsOf(steps))
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

/**
 * Each record that is processed again is processed alone: of several the order would be another than that of their arrival.
 * What the wall clock brings begins anew with a process, so that only an abort changes nothing there.
 */
function apart(steps: readonly Step[], events: readonly Piped[]): readonly Piped[] {
  const followsWallClock = steps.some(({ operation: o }) => o.kind === 'process' && o.by === 'wallClock')
  return events.map(event => {
    if (event.after !== 'abort' && event.after !== 'restart') return event
    return { ...event, isApart: true, after: followsWallClock ? 'abort' : event.after }
  })
}

/** The results and how many records were skipped; what else they had been dropped for before they failed is another matter. */
function skippedOf({ topics, stores, dropped }: Outcome): unknown {
  return { topics, stores, skipped: dropped['skipped'] ?? 0 }
}

function resultsOf({ topics, stores }: Outcome): unknown {
  return { topics, stores }
}

/** What is held back fills a buffer at another time. */
function withoutStops(steps: readonly Step[]): readonly Step[] {
  return steps.map(step => {
    const { operation } = step
    return operation.kind === 'suppress' ? { ...step, operation: { ...operation, whenFull: 'emit' } } : step
  })
}

/** Sums of streams, to which nothing has been held back before: further on a cache changes what there is to add up. */
function cachedFirst(steps: readonly Step[], events: readonly Piped[]): readonly Step[] {
  const direct = new Set<number>()
  const isDirect = ({ inputs }: Step): boolean =>
    inputs.every(({ from, shape }) => shape.type === 'stream' && ('source' in from || direct.has(from.step)))
  for (const step of steps) {
    if (step.shape.type === 'stream' && step.operation.kind !== 'streamTableJoin' && isDirect(step)) direct.add(step.id)
  }
  return steps.filter(step => {
    const { kind } = step.operation
    const isSum = kind === 'aggregate' || kind === 'cogroup' || kind === 'windowed'
    // Tables with versions have no cache.
    return isSum && storeKindOf(step) !== 'versioned' && isDirect(step) && seesTheSame(step, events)
  })
}

/** Whether a sum never comes upon what is too old for its store, and still there with a cache, as in the JVM. */
function seesTheSame({ operation, shape }: Step, events: readonly Piped[]): boolean {
  const windows = shape.type === 'table' ? shape.windows : null
  if (windows === null) return true
  if (operation.kind === 'windowed') {
    if (operation.emit === 'final') return false
    if (windows.type === 'tumbling' || windows.type === 'hopping') return true
  }
  return spanOf(events) < lengthOf(windows) + windows.grace - 1
}

/** What stores hold of the keys that others hold: with a cache, windows are seen longer than they are kept, as in the JVM. */
function shownIn(stores: Outcome['stores'], others: Outcome['stores']): Outcome['stores'] {
  return Object.fromEntries(
    Object.entries(stores).map(([name, lines]) => {
      const keys = new Set(others[name]?.map(line => keyOf(line)))
      return [name, lines.filter(line => !line.includes('@') || keys.has(keyOf(line)))]
    }),
  )
}

function keyOf(line: string): string | undefined {
  return line.split(' = ')[0]
}

function pick(stores: Outcome['stores'], steps: readonly Step[]): unknown {
  return steps.map(({ id }) => stores[storeOf(id)])
}

/** What a reader of a table's topic holds in the end. Sessions come without headers unless a cache held them back, as in the JVM. */
function lastOf(topics: Outcome['topics'], steps: readonly Step[]): unknown {
  return steps.map(step => {
    const hasHeaders = storeKindOf(step) !== 'session'
    const last = new Map<string, string>()
    for (const line of topics[`out-${String(step.id)}`] ?? []) {
      const [key = '', value = ''] = line.split(' = ')
      if (value.startsWith('- @')) last.delete(key)
      else last.set(key, hasHeaders ? line : (/^.* @ \d+/u.exec(line)?.[0] ?? line))
    }
    return [...last.values()].toSorted()
  })
}
