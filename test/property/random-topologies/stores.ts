import { string } from '../../../src/serdes/text.ts'
import type { TestDriver } from '../../../src/testing/test-driver.ts'
import { storeOf } from './build.ts'
import type { AssembledModel } from './model/assemble.ts'
import { storeKindOf, type Step } from './plan.ts'
import { keyText, textOf } from './user-functions.ts'

/** Keys that records and the functions of users may have. */
const KEYS = 'a b c d e i k0 k1 m x xy y p0 p1 f g0 g1 ( - t'.split(' ')

/** What the stores of a topology hold in the end, by name, in the order of their entries' texts. */
export type Contents = Readonly<Record<string, readonly string[]>>

/** The stores behind a driver. @param times - at which tables with versions are asked what held */
export function storesOf(driver: TestDriver, steps: readonly Step[], times: readonly number[]): Contents {
  const texts = { key: string, value: string }
  const stores: Record<string, string[]> = {}
  for (const step of steps) {
    const name = storeOf(step.id)
    switch (storeKindOf(step)) {
      case 'keyValue':
        stores[name] = [...driver.timestampedKeyValueStore(name, texts).all()].map(([key, held]) =>
          lineOf(key, held.value, held.timestamp),
        )
        break
      case 'window':
        stores[name] = [...driver.windowStore(name, texts).all()].map(([key, value]) => lineOf(key, value))
        break
      case 'session': {
        const store = driver.sessionStore(name, texts)
        stores[name] = KEYS.flatMap(key => [...store.fetch(key)]).map(([key, value]) => lineOf(key, value))
        break
      }
      case 'versioned': {
        const store = driver.versionedKeyValueStore(name, texts)
        stores[name] = KEYS.flatMap(key =>
          [undefined, ...times].flatMap(time => {
            const held = time === undefined ? store.get(key) : store.get(key, time)
            return held === undefined ? [] : [`${textOf(time)}: ${lineOf(key, held.value, held.timestamp)}`]
          }),
        )
        break
      }
      case undefined:
        break
    }
  }
  return sorted(stores)
}

/** The same of the model. */
export function modelStoresOf({ tables }: AssembledModel, steps: readonly Step[], times: readonly number[]): Contents {
  const stores: Record<string, string[]> = {}
  for (const step of steps) {
    const table = tables.get(step.id)
    const kind = storeKindOf(step)
    if (table === undefined || kind === undefined) continue
    stores[storeOf(step.id)] =
      kind === 'versioned'
        ? KEYS.flatMap(key =>
            [undefined, ...times].flatMap(time => {
              const held = time === undefined ? table.get(key) : table.getAsOf(key, time)
              return held === undefined ? [] : [`${textOf(time)}: ${lineOf(key, held.value, held.time)}`]
            }),
          )
        : table
            .contents()
            // Sessions cannot be listed without their keys.
            .filter(({ key }) => kind !== 'session' || (typeof key === 'object' && KEYS.includes(key?.key ?? '')))
            .map(({ key, value, time }) => lineOf(key, value, time))
  }
  return sorted(stores)
}

function lineOf(key: unknown, value: unknown, time?: number): string {
  return `${keyText(key)} = ${textOf(value)}${time === undefined ? '' : ` @ ${String(time)}`}`
}

function sorted(stores: Readonly<Record<string, string[]>>): Contents {
  return Object.fromEntries(Object.entries(stores).map(([name, lines]) => [name, lines.toSorted()]))
}
