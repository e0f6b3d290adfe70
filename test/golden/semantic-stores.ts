import { expect } from 'chai'
import type { AnyState } from '../../src/stores/any-state.ts'
import type { TestRun } from '../../src/testing/test-run.ts'
import type { ApplicationPlan } from '../../src/topology/plan.ts'
import type { Rendered, SemanticCase } from './semantic-case.ts'

/** An entry as a golden file writes it. */
interface StoredEntry {
  readonly key: Rendered
  readonly start?: number
  readonly end?: number | string
  readonly value: unknown
  readonly timestamp?: number
}

/** Stores a golden file shows in a form of the JVM's own; their changelogs are compared all the same. */
const INFORMATIVE = /OUTERSHARED|-shared-join-store$|SUBSCRIPTION-STATE-STORE|-Buffer$/
/** End of a window that never ends, which a number cannot hold. */
const NEVER = '9223372036854775807'

/** Compares every store that the file shows as such. */
export function expectStores(golden: SemanticCase, run: TestRun, plan: ApplicationPlan): void {
  if (golden.errorAtInput !== undefined) return
  for (const [name, entries] of Object.entries(golden.stores ?? {})) {
    if (INFORMATIVE.test(name)) continue
    const isTimestamped = entries.length > 0 && entries.every(entry => entry.timestamp !== undefined)
    const held = [...contentsOf(asState(run.store(name)), windowSizeOf(plan, name))]
      .map(({ timestamp, ...entry }) => (isTimestamped ? { ...entry, timestamp } : entry))
      .map(entry => ({ ...entry, value: shown(entry.value) }))
    expect(held, `store ${name}`).to.deep.equal(entries)
  }
}

function* contentsOf(store: AnyState, windowSizeMs: number | undefined): IterableIterator<StoredEntry> {
  switch (store.kind) {
    case 'keyValue':
      for (const [key, value, timestamp] of store.scan({})) yield { key: key.toString(), value, timestamp }
      return
    case 'versioned':
      for (const [key, value, timestamp] of store.latest()) yield { key: key.toString(), value, timestamp }
      return
    case 'suppress':
      // A buffer is no queryable store.
      return
    case 'window': {
      const all = [...store.fetchAll(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)].map(
        ([key, start, value, timestamp]) => ({
          key: key.toString(),
          start,
          end: windowSizeMs === undefined || start + windowSizeMs >= Number.MAX_SAFE_INTEGER ? NEVER : start + windowSizeMs,
          value,
          // A plain window store keeps no time of its entries; the JVM shows that as −1.
          timestamp: store.retainsDuplicates ? -1 : timestamp,
        }),
      )
      yield* all.toSorted((a, b) => compare(a.key, b.key) || a.start - b.start)
      return
    }
    case 'session': {
      const all = [...store.fetchAll(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)].map(
        ([key, start, end, value]) => ({ key: key.toString(), start, end, value }),
      )
      yield* all.toSorted((a, b) => compare(a.key, b.key) || a.start - b.start || a.end - b.end)
    }
  }
}

function windowSizeOf({ subtopologies }: ApplicationPlan, name: string): number | undefined {
  return subtopologies.flatMap(({ stores }) => stores).find(store => store.name === name)?.definition.windowSizeMs
}

function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** Integers beyond what a number holds are texts in the file. */
function shown(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

function asState(store: unknown): AnyState {
  return store as AnyState
}
