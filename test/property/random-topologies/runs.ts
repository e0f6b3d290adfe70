import type { RecordHeaders } from '../../../src/model/headers.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import { string } from '../../../src/serdes/text.ts'
import { TestDriver, type TestDriverOptions } from '../../../src/testing/test-driver.ts'
import { topologyOf } from './build.ts'
import { lineOf } from './description.ts'
import type { Piped } from './events.ts'
import { AssembledModel } from './model/assemble.ts'
import { idOf } from './model/flow.ts'
import type { Step } from './plan.ts'
import { modelStoresOf, storesOf, type Contents } from './stores.ts'
import type { Header } from './user-functions.ts'

const nulls = { key: nullable(string), value: nullable(string) }

/** What a run has given: the committed records of each topic in their order, the stores, and what was dropped and why. */
export interface Outcome {
  readonly topics: Readonly<Record<string, readonly string[]>>
  readonly stores: Contents
  readonly dropped: Readonly<Record<string, number>>
}

/** Pipes records through a topology. */
export function runOf(
  steps: readonly Step[],
  events: readonly Piped[],
  { streams = {}, errors = {} }: Pick<TestDriverOptions, 'streams' | 'errors'> = {},
): Outcome {
  using driver = new TestDriver(topologyOf(steps), { commit: 'explicit', streams, errors })
  for (const { topic, key, value, time, wall, headers, isApart, after } of events) {
    if (wall > 0) driver.advanceWallClock(wall)
    if (isApart) driver.commit()
    driver.input(topic, nulls).pipeRecord({ key, value, timestamp: time, headers })
    if (after !== 'nothing') driver[after]()
  }
  driver.commit()
  const topics: Record<string, string[]> = {}
  for (const topic of driver.producedTopics.filter(name => name.startsWith('out-'))) {
    topics[topic] = driver
      .output(topic, nulls)
      .readAll()
      .map(({ key, value, timestamp, headers }) => lineOf({ key, value, time: timestamp, headers: headersOf(headers) }))
  }
  return { topics, stores: storesOf(driver, steps, timesOf(events)), dropped: Object.fromEntries(driver.dropped) }
}

/** The same with the model. */
export function modelRunOf(steps: readonly Step[], events: readonly Piped[], skipsFailures = false): Outcome {
  const assembled = new AssembledModel(steps)
  const { model } = assembled
  model.skipsFailures = skipsFailures
  for (const event of events) {
    if (event.wall > 0) model.advanceWallClock(event.wall)
    assembled.pipe(event)
    if (event.after !== 'nothing') model[event.after]()
  }
  const topics: Record<string, string[]> = {}
  for (const { topic, record } of model.sent.filter(sent => sent.topic.startsWith('out-'))) {
    topics[topic] ??= []
    topics[topic].push(lineOf({ ...record, key: record.key === null ? null : idOf(record.key) }))
  }
  const stores = modelStoresOf(assembled, steps, timesOf(events))
  return { topics, stores, dropped: Object.fromEntries(model.dropped) }
}

function timesOf(events: readonly Piped[]): readonly number[] {
  return [...new Set(events.map(({ time }) => time))]
}

function headersOf(headers: RecordHeaders): readonly Header[] {
  return [...headers].map(([name, value]) => [name, value === null ? null : Buffer.from(value).toString()])
}
