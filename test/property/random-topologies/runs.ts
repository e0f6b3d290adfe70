import type { RecordHeaders } from '../../../src/model/headers.ts'
import { MillraceError } from '../../../src/model/errors.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import { string } from '../../../src/serdes/text.ts'
import { TestDriver, type TestDriverOptions } from '../../../src/testing/test-driver.ts'
import { topologyOf } from './build.ts'
import { lineOf } from './description.ts'
import type { Piped } from './events.ts'
import { AssembledModel } from './model/assemble.ts'
import { idOf, Stop } from './model/flow.ts'
import type { Step } from './plan.ts'
import { modelStoresOf, storesOf, type Contents } from './stores.ts'
import { serdesOf, valuesIn } from './value-serdes.ts'
import type { Header } from './user-functions.ts'

const nulls = { key: nullable(string), value: nullable(string) }

/** What a run has given: the committed records of each topic in their order, the stores, and what was dropped and why. */
export interface Outcome {
  readonly topics: Readonly<Record<string, readonly string[]>>
  readonly stores: Contents
  readonly dropped: Readonly<Record<string, number>>
  /** Which record stopped it and why. */
  readonly stopped: string | undefined
}

/** Pipes records through a topology. */
export function runOf(
  steps: readonly Step[],
  events: readonly Piped[],
  { streams = {}, errors = {} }: Pick<TestDriverOptions, 'streams' | 'errors'> = {},
): Outcome {
  using driver = new TestDriver(topologyOf(steps), { commit: 'explicit', streams, errors })
  const stopped = untilStopped(events, ({ topic, key, value, time, wall, headers, isApart, after }) => {
    if (wall > 0) driver.advanceWallClock(wall)
    if (isApart) driver.commit()
    driver.input(topic, nulls).pipeRecord({ key, value, timestamp: time, headers })
    if (after !== 'nothing') driver[after]()
  })
  if (stopped === undefined) driver.commit()
  const topics: Record<string, string[]> = {}
  for (const topic of driver.producedTopics.filter(name => name.startsWith('out-'))) {
    topics[topic] = driver
      .output(topic, serdesOf(valuesIn(topic, steps)))
      .readAll()
      .map(({ key, value, timestamp, headers }) => lineOf({ key, value, time: timestamp, headers: headersOf(headers) }))
  }
  const stores = storesOf(driver, steps, timesOf(events))
  return { topics, stores, dropped: Object.fromEntries(driver.dropped), stopped }
}

/** The same with the model. */
export function modelRunOf(steps: readonly Step[], events: readonly Piped[], skipsFailures = false): Outcome {
  const assembled = new AssembledModel(steps)
  const { model } = assembled
  model.skipsFailures = skipsFailures
  const stopped = untilStopped(events, event => {
    if (event.wall > 0) model.advanceWallClock(event.wall)
    assembled.pipe(event)
    if (event.after !== 'nothing') model[event.after]()
  })
  const topics: Record<string, string[]> = {}
  for (const { topic, record } of model.sent.filter(sent => sent.topic.startsWith('out-'))) {
    topics[topic] ??= []
    topics[topic].push(lineOf({ ...record, key: record.key === null ? null : idOf(record.key) }))
  }
  const stores = modelStoresOf(assembled, steps, timesOf(events))
  return { topics, stores, dropped: Object.fromEntries(model.dropped), stopped }
}

/** Goes through the records until one stops the application; tells which and why. */
function untilStopped(events: readonly Piped[], take: (event: Piped) => void): string | undefined {
  for (const [at, event] of events.entries()) {
    try {
      take(event)
    } catch (thrown) {
      const code = thrown instanceof MillraceError ? thrown.code : thrown instanceof Stop ? thrown.message : ''
      if (code !== 'SUPPRESS_BUFFER_FULL') throw thrown
      return `${code} at ${String(at)}`
    }
  }
  return undefined
}

function timesOf(events: readonly Piped[]): readonly number[] {
  return [...new Set(events.map(({ time }) => time))]
}

function headersOf(headers: RecordHeaders): readonly Header[] {
  return [...headers].map(([name, value]) => [name, value === null ? null : Buffer.from(value).toString()])
}
