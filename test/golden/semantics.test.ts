import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { MillraceError } from '../../src/model/errors.ts'
import type { ErrorPolicies } from '../../src/model/record-failure.ts'
import { planApplication } from '../../src/topology/plan-application.ts'
import type { ApplicationPlan } from '../../src/topology/plan.ts'
import type { Topology } from '../../src/topology/topology.ts'
import { STAMPED_WHEN_SENT } from '../../src/stores/changelog.ts'
import { TestRun } from '../../src/testing/test-run.ts'
import type { SentRecord } from '../../src/testing/memory-collector.ts'
import { headersOf } from '../../src/model/headers.ts'
import { foundIn, goldenDirectory } from './golden-file.ts'
import { readSemanticCases, type GoldenBytes, type GoldenRecord, type SemanticCase } from './semantic-case.ts'
import { expectStores } from './semantic-stores.ts'
import { renderKey, renderValue } from './semantic-rendering.ts'
import { baseOf, builderOf, topologyOf } from './semantic-topologies.ts'

/** All that a run produced, in the form of a golden file. */
interface Outcome {
  readonly outputs: GoldenRecord[]
  readonly internal: GoldenBytes[]
  readonly changelogs: GoldenBytes[]
  readonly notes: { readonly note: string; readonly afterInput: number }[]
  errorAtInput?: number
}

describe('semantics of Kafka Streams', () => {
  it('is not shown by a folder without golden files', () => {
    expect(() => readSemanticCases(join(process.cwd(), 'docs'))).to.throw('no golden file of a topology is in')
  })

  const cases = foundIn(goldenDirectory('semantics'), readSemanticCases)

  it('is recorded in golden files', () => {
    if (cases instanceof Error) throw cases
    expect(cases.size).to.be.above(0)
  })

  for (const [name, golden] of cases instanceof Error ? [] : cases) {
    it(`gives the records, changelogs and stores of the JVM for ${name}`, () => {
      const build = builderOf(golden.case)
      if (build === undefined) throw new Error(`no topology is written for the case ${golden.case}`)
      const notes: Outcome['notes'] = []
      let input = 0
      const topology = topologyOf(build, note => notes.push({ note, afterInput: input }), golden.params)
      const plan = planOf(golden, topology)
      const run = newRun(golden, plan)
      const outcome = runCase(golden, run, notes, at => {
        input = at
      })
      expect(outcome.errorAtInput, 'errorAtInput').to.equal(golden.errorAtInput)
      expect(outcome.outputs, 'outputs').to.deep.equal(golden.outputs.map(withoutErrorTexts))
      expect(outcome.notes, 'sideEffects').to.deep.equal(golden.sideEffects ?? [])
      expect(outcome.internal, 'internalTopics').to.deep.equal(golden.internalTopics)
      expectChangelogs(golden, outcome.changelogs)
      expectStores(golden, run, plan)
      expectTopology(golden, plan)
      run.close()
    })
  }
})

function planOf({ config }: SemanticCase, topology: Topology): ApplicationPlan {
  const optimization = config['topology.optimization'] === 'all' ? 'all' : 'none'
  return planApplication(topology, {
    'application.id': 'app',
    'topology.optimization': optimization,
    'dsl.store.format': config['dsl.store.format'] === 'headers' ? 'headers' : 'default',
    'statestore.cache.max.bytes': Number(config['statestore.cache.max.bytes'] ?? 0),
  })
}

function newRun(golden: SemanticCase, plan: ApplicationPlan): TestRun {
  return new TestRun({
    plan,
    errors: policiesOf(golden),
    wallClockMs: golden.initialWallClock,
    commitsEveryRecord: golden.commitMode.startsWith('after every'),
  })
}

function policiesOf({ config }: SemanticCase): ErrorPolicies {
  const topic = config['errors.dead.letter.queue.topic.name']
  const reaction = typeof topic === 'string' ? 'deadLetter' : 'skip'
  return {
    ...('processing.exception.handler' in config ? { processing: reaction } : {}),
    ...('deserialization.exception.handler' in config ? { deserialization: reaction } : {}),
    ...(typeof topic === 'string' ? { deadLetterTopic: topic } : {}),
  }
}

function runCase(golden: SemanticCase, run: TestRun, notes: Outcome['notes'], onInput: (at: number) => void): Outcome {
  const outcome: Outcome = { outputs: [], internal: [], changelogs: [], notes }
  let taken = 0
  for (const [at, event] of golden.inputs.entries()) {
    onInput(at)
    try {
      if (event.event === 'advanceWallClock') run.advanceWallClock(event.ms)
      else if (event.event === 'commit') run.commit()
      else pipe(run, event)
    } catch (thrown) {
      if (!(thrown instanceof MillraceError)) throw thrown
      outcome.errorAtInput = at
    }
    const { sent } = run.collector
    for (; taken < sent.length; taken++) {
      const record = sent[taken]
      if (record !== undefined) sort(record, at, golden, outcome)
    }
    if (outcome.errorAtInput !== undefined) break
  }
  return outcome
}

function pipe(run: TestRun, event: Exclude<SemanticCase['inputs'][number], { readonly event: string }>): void {
  run.pipe(event.topic, {
    key: event.key === null ? null : Buffer.from(event.key),
    value: event.value === null ? null : Buffer.from(event.value),
    timestamp: event.timestamp,
    headers: headersOf((event.headers ?? []).map(([name, value]) => [name, value === null ? null : Buffer.from(value)])),
  })
}

function sort(record: SentRecord, at: number, golden: SemanticCase, outcome: Outcome): void {
  const { topic, timestamp } = record
  if (topic.startsWith('app-')) {
    const bytes = bytesOf(record, at)
    ;(topic.endsWith('-changelog') ? outcome.changelogs : outcome.internal).push(bytes)
    return
  }
  const [keyForm, valueForm] = golden.serdes[topic] ?? ['string', 'string']
  const headers = [...record.headers].map(([name, value]): [string, string | null] => [name, value === null ? null : Buffer.from(value).toString()])
  outcome.outputs.push(
    withoutErrorTexts({
      topic,
      key: renderKey(record.key, keyForm),
      value: renderValue(record.value, valueForm),
      timestamp,
      ...(headers.length === 0 ? {} : { headers }),
      ...(golden.outputs[outcome.outputs.length]?.keyHex === undefined ? {} : { keyHex: record.key?.toString('hex') ?? null }),
      afterInput: at,
    }),
  )
}

function bytesOf({ topic, key, value, timestamp, headers }: SentRecord, at: number): GoldenBytes {
  const hex = [...headers].map(([name, held]): [string, string | null] => [name, held === null ? null : Buffer.from(held).toString('hex')])
  return {
    topic,
    keyHex: key?.toString('hex') ?? null,
    valueHex: value?.toString('hex') ?? null,
    timestamp: timestamp === STAMPED_WHEN_SENT ? null : timestamp,
    ...(hex.length === 0 ? {} : { headersHex: hex }),
    afterInput: at,
  }
}

/** Texts of exceptions are the JVM's own; that they are there is all that is compared. */
function withoutErrorTexts(record: GoldenRecord): GoldenRecord {
  if (record.headers === undefined) return record
  const headers = record.headers.map(([name, value]): [string, string | null] =>
    /^__streams\.errors\.(exception|message|stacktrace)$/.test(name) ? [name, value === null ? null : '<text>'] : [name, value],
  )
  return { ...record, headers }
}

function expectChangelogs(golden: SemanticCase, changelogs: readonly GoldenBytes[]): void {
  if (golden.changelogs !== undefined) expect(changelogs, 'changelogs').to.deep.equal(golden.changelogs)
  if (golden.changelogDigests === undefined) return
  const digests: Record<string, { count: number; sha256: string }> = {}
  for (const topic of new Set(changelogs.map(record => record.topic))) {
    const records = changelogs.filter(record => record.topic === topic)
    const hash = createHash('sha256')
    for (const { keyHex, valueHex, timestamp } of records) {
      hash.update(`${keyHex ?? '-'}|${valueHex ?? '-'}|${timestamp === null ? '-' : String(timestamp)}\n`)
    }
    digests[topic] = { count: records.length, sha256: hash.digest('hex') }
  }
  expect(digests, 'changelogDigests').to.deep.equal(golden.changelogDigests)
}

function topicsOf(lines: readonly string[]): string[] {
  return lines.filter(line => /^ +(Source|Sink):/.test(line)).map(line => line.replace(/^.*\(/, '('))
}

/** Names of processors may differ where a branch has a name here and a number there; all else is the same text. */
function expectTopology(golden: SemanticCase, plan: ApplicationPlan): void {
  const lines = String(plan.describe()).trimEnd().split('\n')
  if (baseOf(golden.case).startsWith('stateless-split')) {
    expect(topicsOf(lines), 'topology').to.have.members(topicsOf(golden.topology))
  } else {
    expect(lines, 'topology').to.deep.equal(golden.topology)
  }
}
