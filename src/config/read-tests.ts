import { parseDurationMs } from '../model/duration.ts'
import type { DropReason } from '../model/record-failure.ts'
import type { ExpectedRecord, GraphConfig, TestConfig, TestEvent } from './application-config.ts'
import { plainValue } from './config-node.ts'
import { Fields } from './fields.ts'
import type { ProblemList } from './problems.ts'
import { checkKeys } from './read-parts.ts'
import { nearestName } from '../model/nearest-name.ts'
import { TEST_EVENT_KEYS, TEST_KEYS, TEST_RECORD_KEYS } from './vocabulary.ts'

const DROP_REASONS: readonly DropReason[] = [
  'late',
  'nullKey',
  'nullValue',
  'negativeTimestamp',
  'skipped',
  'deadLettered',
  'duplicate',
  'windowNeverEmitted',
  'outOfOrderVersion',
  'staleResponse',
  'partitionerNone',
  'undelivered',
]

/** Reads an entry of `tests:`. Names of sources and sinks become topics. */
export function readTest(fields: Fields, graph: GraphConfig, problems: ProblemList): TestConfig {
  checkKeys(fields, TEST_KEYS, problems)
  const name = fields.text('name') ?? 'unnamed'
  const events = itemsOf(fields, 'inputs', problems).map(item => readEvent(item, graph, problems))
  const outputs = itemsOf(fields, 'outputs', problems).map(item => readOutput(item, graph, problems))
  return {
    name,
    place: fields.place,
    events: events.filter(event => event !== undefined),
    outputs: outputs.filter(output => output !== undefined),
    dropped: readDropped(fields),
  }
}

function itemsOf(fields: Fields, name: 'inputs' | 'outputs', problems: ProblemList): readonly Fields[] {
  const node = fields.get(name)
  if (node === undefined) return []
  if (node.kind !== 'list') {
    problems.add(node.place, `"${name}" of ${fields.what} is a list`)
    return []
  }
  const what = name === 'inputs' ? 'the input' : 'the output'
  return node.items.map(item => Fields.of(item, what, problems)).filter(item => item !== undefined)
}

function readEvent(fields: Fields, graph: GraphConfig, problems: ProblemList): TestEvent | undefined {
  const [kind] = Object.keys(TEST_EVENT_KEYS).filter(name => fields.has(name))
  if (kind === undefined) return readInput(fields, graph, problems)
  fields.checkKnown([kind])
  if (kind === 'advanceWallClock') {
    const by = fields.duration('advanceWallClock')
    return by === undefined ? undefined : { kind: 'advanceWallClock', byMs: parseDurationMs(by) ?? 0 }
  }
  if (fields.boolean(kind) === false) problems.add(fields.place, `"${kind}" is written as ${kind}: true`)
  return kind === 'restart' || kind === 'abort' || kind === 'commit' ? { kind } : undefined
}

function readInput(fields: Fields, graph: GraphConfig, problems: ProblemList): TestEvent | undefined {
  const { sink: _sink, ...keys } = TEST_RECORD_KEYS
  fields.checkKnown([...Object.keys(keys), ...Object.keys(TEST_EVENT_KEYS)])
  const topic = topicOf(
    fields,
    'source',
    new Map(Array.from(graph.sources, ([name, source]) => [name, source.topics[0]])),
    graph,
    problems,
  )
  if (topic === undefined) return undefined
  return { kind: 'record', place: fields.place, topic, ...recordOf(fields, problems) }
}

function readOutput(fields: Fields, graph: GraphConfig, problems: ProblemList): ExpectedRecord | undefined {
  const { source: _source, ...keys } = TEST_RECORD_KEYS
  fields.checkKnown(Object.keys(keys))
  const fixed = Array.from(
    graph.sinks,
    ([name, { topic }]) => [name, typeof topic === 'string' ? topic : undefined] as const,
  )
  const topic = topicOf(fields, 'sink', new Map(fixed), graph, problems)
  return topic === undefined ? undefined : { place: fields.place, topic, ...recordOf(fields, problems) }
}

function topicOf(
  fields: Fields,
  key: 'source' | 'sink',
  topics: ReadonlyMap<string, string | undefined>,
  graph: GraphConfig,
  problems: ProblemList,
): string | undefined {
  const name = fields.text(key)
  if (name === undefined) {
    fields.require(fields.has(key) ? key : 'topic', `name a ${key} or a topic`)
    return fields.text('topic')
  }
  const topic = topics.get(name)
  // What is declared and yet not there could not be read, which has been noted.
  const isRead = graph.sources.has(name) || graph.steps.has(name) || graph.sinks.has(name)
  if (topic !== undefined || (graph.declared.has(name) && !isRead)) return topic
  const nearest = nearestName(name, topics.keys())
  const dynamic = topics.has(name)
  problems.add(
    fields.get(key)?.place,
    dynamic ? `the ${key} "${name}" chooses its topic per record` : `there is no ${key} "${name}"`,
    dynamic ? 'write topic: instead' : nearest === undefined ? undefined : `did you mean "${nearest}"?`,
    'NAME_UNKNOWN',
  )
  return undefined
}

function recordOf(fields: Fields, problems: ProblemList): Omit<ExpectedRecord, 'place' | 'topic'> {
  const [key, value] = [fields.get('key'), fields.get('value')]
  return {
    key: key === undefined ? null : plainValue(key),
    value: value === undefined ? null : plainValue(value),
    timestamp: fields.integer('timestamp', 0),
    headers: readHeaders(fields, problems),
  }
}

function readHeaders(fields: Fields, problems: ProblemList): Readonly<Record<string, string | null>> | undefined {
  const headers = fields.fields('headers')
  if (headers === undefined) return undefined
  const result: Record<string, string | null> = {}
  for (const [name, { node }] of headers.node.entries) {
    if (node.kind === 'scalar') result[name] = node.value === null ? null : node.text
    else problems.add(node.place, `the header "${name}" is a text or null`)
  }
  return result
}

function readDropped(fields: Fields): ReadonlyMap<DropReason, number> {
  const dropped = fields.fields('dropped')
  dropped?.checkKnown(DROP_REASONS)
  const counts = new Map<DropReason, number>()
  if (dropped === undefined) return counts
  for (const reason of DROP_REASONS) {
    const count = dropped.has(reason) ? dropped.integer(reason, 0) : undefined
    if (count !== undefined) counts.set(reason, count)
  }
  return counts
}
