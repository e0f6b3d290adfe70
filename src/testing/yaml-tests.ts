import { isDeepStrictEqual } from 'node:util'
import type { ExpectedRecord, TestConfig, TestEvent } from '../config/application-config.ts'
import { loadApplication, type LoadOptions, type TopicSerdes } from '../config/load-application.ts'
import { positionText } from '../config/source-file.ts'
import { MillraceError, reasonOf } from '../model/errors.ts'
import { headersOf, NO_HEADERS, type RecordHeaders } from '../model/headers.ts'
import type { ErrorPolicies } from '../model/record-failure.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { bytes } from '../serdes/text.ts'
import { withoutNull } from '../serdes/nullable.ts'
import { planApplication } from '../topology/plan-application.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import type { SentRecord } from './memory-collector.ts'
import { TestRun } from './test-run.ts'

/** What became of one test of a YAML file. */
export interface YamlTestResult {
  readonly name: string
  /** `file:line:column`. */
  readonly position: string
  readonly passed: boolean
  /** What differs, one readable line each, then which records an error policy passed over; empty when it passed. */
  readonly differences: readonly string[]
}

/** A record as a test sees it. */
interface SeenRecord {
  readonly key: unknown
  readonly value: unknown
  readonly timestamp: number
  readonly headers: Readonly<Record<string, string | null>>
}

/**
 * Runs the `tests:` of YAML files, merged left to right, without a broker.
 *
 * @throws MillraceError with every mistake of the files
 */
export async function runYamlTests(
  files: readonly string[],
  options: LoadOptions = {},
): Promise<readonly YamlTestResult[]> {
  const { config, topology, tests, topicSerdes } = await loadApplication(files, options)
  const plan = planApplication(topology, config.streams)
  return tests.map(test => runTest(test, plan, config.errors ?? {}, topicSerdes))
}

function runTest(test: TestConfig, plan: ApplicationPlan, errors: ErrorPolicies, serdes: TopicSerdes): YamlTestResult {
  const run = new TestRun({ plan, errors, wallClockMs: 0, commitsEveryRecord: !usesTransactions(test.events) })
  const differences: string[] = []
  try {
    for (const event of test.events) apply(event, run, serdes)
    differences.push(...compareOutputs(test, run, serdes), ...compareDropped(test, run))
  } catch (thrown) {
    if (!(thrown instanceof MillraceError)) throw thrown
    differences.push(`stopped: ${thrown.code}: ${thrown.message}`)
  } finally {
    run.close()
  }
  if (differences.length > 0) differences.push(...run.passedOver.lines())
  return { name: test.name, position: positionText(test.place), passed: differences.length === 0, differences }
}

/** With explicit commits, aborts or restarts in it, a test decides itself when a transaction ends. */
function usesTransactions(events: readonly TestEvent[]): boolean {
  return events.some(({ kind }) => kind === 'commit' || kind === 'abort' || kind === 'restart')
}

function apply(event: TestEvent, run: TestRun, serdes: TopicSerdes): void {
  switch (event.kind) {
    case 'record': {
      const { topic, timestamp = 0 } = event
      const headers = headersOf(
        Object.entries(event.headers ?? {}).map(([name, text]) => [name, text === null ? null : Buffer.from(text)]),
      )
      const known = serdes.get(topic)
      run.pipe(topic, {
        key: encode(event.key, known?.key, { topic, side: 'key', headers, position: positionText(event.place) }),
        value: encode(event.value, known?.value, {
          topic,
          side: 'value',
          headers,
          position: positionText(event.place),
        }),
        timestamp,
        headers,
      })
      return
    }
    case 'advanceWallClock':
      run.advanceWallClock(event.byMs)
      return
    case 'restart':
      run.restart()
      return
    case 'abort':
      run.abort()
      return
    case 'commit':
      run.commit()
      return
  }
}

interface EncodeContext {
  readonly topic: string
  readonly side: 'key' | 'value'
  readonly headers: RecordHeaders
  readonly position: string
}

function encode(value: unknown, serde: AnySerde | undefined, context: EncodeContext): Buffer | null {
  if (value === null || value === undefined) return null
  if (serde === undefined || withoutNull(serde) === bytes) {
    return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  }
  try {
    return Buffer.from(erasedSerde(serde).serialize(value, context))
  } catch (cause) {
    throw new MillraceError('CONFIG_INVALID', {
      cause,
      position: context.position,
      what: `The ${context.side} of the test's record cannot be written: ${reasonOf(cause)}`,
    })
  }
}

function compareOutputs(test: TestConfig, run: TestRun, serdes: TopicSerdes): readonly string[] {
  const byTopic = new Map<string, ExpectedRecord[]>()
  for (const expected of test.outputs) byTopic.set(expected.topic, [...(byTopic.get(expected.topic) ?? []), expected])
  if (byTopic.size === 0) {
    // A test that names no output says that there is none.
    for (const { topic } of run.collector.sent) if (!run.isInternal(topic)) byTopic.set(topic, [])
  }
  return [...byTopic].flatMap(([topic, expected]) =>
    compareTopic(
      topic,
      expected,
      run.collector.sent.filter(record => record.topic === topic),
      serdes,
    ),
  )
}

function compareTopic(
  topic: string,
  expected: readonly ExpectedRecord[],
  sent: readonly SentRecord[],
  serdes: TopicSerdes,
): readonly string[] {
  const differences: string[] = []
  const records = sent.map(record => decode(record, serdes))
  for (let at = 0; at < Math.max(expected.length, records.length); at++) {
    const [wanted, got] = [expected[at], records[at]]
    const which = `${topic}, record ${String(at + 1)}`
    if (wanted === undefined) {
      differences.push(`${which}: not expected: ${shownRecord(got)}`)
    } else if (got === undefined) {
      differences.push(
        `${positionText(wanted.place)} ${which}: missing: ${JSON.stringify({ key: wanted.key, value: wanted.value })}`,
      )
    } else {
      differences.push(
        ...compareRecord(wanted, got).map(difference => `${positionText(wanted.place)} ${which}: ${difference}`),
      )
    }
  }
  return differences
}

function compareRecord(wanted: ExpectedRecord, got: SeenRecord): readonly string[] {
  const differences: string[] = []
  for (const side of ['key', 'value'] as const) {
    const seen = comparable(got[side], wanted[side])
    if (!isDeepStrictEqual(seen, wanted[side])) {
      differences.push(`${side} is ${JSON.stringify(seen)}, expected ${JSON.stringify(wanted[side])}`)
    }
  }
  if (wanted.timestamp !== undefined && wanted.timestamp !== got.timestamp) {
    differences.push(`timestamp is ${String(got.timestamp)}, expected ${String(wanted.timestamp)}`)
  }
  for (const [name, value] of Object.entries(wanted.headers ?? {})) {
    const seen = got.headers[name]
    if (seen !== value)
      differences.push(
        `header ${name} is ${seen === undefined ? 'missing' : JSON.stringify(seen)}, expected ${JSON.stringify(value)}`,
      )
  }
  return differences
}

/** Bytes without a serde are compared as the test writes them: as text, or as JSON. Integers compare by value. */
function comparable(seen: unknown, wanted: unknown): unknown {
  if (typeof seen === 'bigint') return Number.isSafeInteger(Number(seen)) ? Number(seen) : String(seen)
  if (!(seen instanceof Uint8Array)) return plain(seen)
  const text = Buffer.from(seen).toString('utf8')
  if (typeof wanted === 'string' || wanted === null) return text
  try {
    const parsed: unknown = JSON.parse(text)
    return parsed
  } catch {
    return text
  }
}

/** Objects as the YAML reader makes them, whatever class or prototype a serde gave them. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const copy: unknown = JSON.parse(JSON.stringify(value))
  return copy
}

function decode({ topic, key, value, timestamp, headers }: SentRecord, serdes: TopicSerdes): SeenRecord {
  const known = serdes.get(topic)
  return {
    key: decodeSide(key, known?.key, topic, 'key'),
    value: decodeSide(value, known?.value, topic, 'value'),
    timestamp,
    headers: Object.fromEntries(
      [...headers].map(([name, held]) => [name, held === null ? null : Buffer.from(held).toString('utf8')]),
    ),
  }
}

function decodeSide(held: Buffer | null, serde: AnySerde | undefined, topic: string, side: 'key' | 'value'): unknown {
  if (held === null) return null
  return serde === undefined ? held : erasedSerde(serde).deserialize(held, { topic, side, headers: NO_HEADERS })
}

function compareDropped(test: TestConfig, run: TestRun): readonly string[] {
  return [...test.dropped]
    .filter(([reason, count]) => (run.dropped.get(reason) ?? 0) !== count)
    .map(([reason, count]) => `dropped ${reason}: ${String(run.dropped.get(reason) ?? 0)}, expected ${String(count)}`)
}

function shownRecord(record: SeenRecord | undefined): string {
  return JSON.stringify({ key: shownSide(record?.key), value: shownSide(record?.value) })
}

function shownSide(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value
}
