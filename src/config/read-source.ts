import { parseDurationMs } from '../model/duration.ts'
import type { ErrorPolicies } from '../model/record-failure.ts'
import type { SinkConfig, SourceConfig } from './application-config.ts'
import { readExpression, type ExpressionSpec } from './expression-spec.ts'
import type { Fields } from './fields.ts'
import type { ProblemList } from './problems.ts'
import { checkKeys, isTopicName, readErrors, readSerde, readStore } from './read-parts.ts'
import { SINK_KEYS, SOURCE_KEYS } from './vocabulary.ts'

/** Reads an entry of `sources:`. */
export function readSource(
  name: string,
  fields: Fields,
  problems: ProblemList,
  inherited: ErrorPolicies,
): SourceConfig | undefined {
  checkKeys(fields, SOURCE_KEYS, problems)
  const kind = fields.choice('as', ['stream', 'table', 'globalTable'])
  const isKindKnown = kind !== undefined || !(fields.has('as') || fields.isMistyped('as'))
  const as = kind ?? 'stream'
  const topics = readTopics(fields, problems)
  if (as !== 'stream') {
    for (const side of ['key', 'value'] as const)
      fields.require(side, `a table decodes its ${side}: write ${side}: string or ${side}: json`)
    if (topics !== undefined && topics.length > 1)
      problems.add(fields.keyPlace('topics'), `${fields.what} is a table and reads one topic`)
  } else if (isKindKnown && fields.has('store')) {
    problems.add(fields.keyPlace('store'), `${fields.what} is a stream and has no store`, 'write as: table')
  }
  const { timestamp, onInvalidTimestamp } = readTimestamp(fields, problems)
  const errors = fields.fields('errors')
  const source = {
    name,
    place: fields.place,
    as,
    key: readSerde(fields, 'key', problems),
    value: readSerde(fields, 'value', problems),
    timestamp,
    onInvalidTimestamp,
    offsetReset: fields.choice('offsetReset', ['earliest', 'latest', 'none']),
    onOutOfRange: fields.choice('onOutOfRange', ['fail', 'earliest', 'latest']),
    errors: errors === undefined ? undefined : readErrors(errors, problems, inherited),
    store: readStore(fields, problems),
    versionedMs: fields.has('versioned') ? parseDurationMs(fields.duration('versioned')) : undefined,
  }
  if (isKindKnown && as !== 'table' && fields.has('versioned'))
    problems.add(fields.keyPlace('versioned'), `${fields.what} is no table and keeps no versions`, 'write as: table')
  return topics === undefined || !isKindKnown ? undefined : { ...source, topics }
}

/** Reads an entry of `sinks:`. */
export function readSink(name: string, fields: Fields, problems: ProblemList): SinkConfig | undefined {
  checkKeys(fields, SINK_KEYS, problems)
  const from = fields.get('from')
  const topic = readSinkTopic(fields, problems)
  const partition = fields.get('partition')
  const sink = {
    name,
    place: fields.place,
    key: readSerde(fields, 'key', problems),
    value: readSerde(fields, 'value', problems),
    partition: partition === undefined ? undefined : readExpression(partition, problems),
  }
  if (from !== undefined && from.kind !== 'scalar') {
    problems.add(from.place, `"from" of ${fields.what} is one name`, 'merge streams in a step: { from: [a, b] }')
    return undefined
  }
  return from === undefined || topic === undefined ? undefined : { ...sink, from, topic }
}

function readTopics(fields: Fields, problems: ProblemList): readonly [string, ...string[]] | undefined {
  if (fields.has('topic') === fields.has('topics')) {
    const both = fields.has('topic')
    problems.add(
      both ? fields.keyPlace('topics') : fields.place,
      `${fields.what} ${both ? 'has both "topic" and "topics"' : 'lacks "topic"'}`,
    )
    return undefined
  }
  const key = fields.has('topic') ? 'topic' : 'topics'
  const texts = key === 'topic' ? [fields.text('topic')] : (fields.texts('topics')?.map(node => node.text) ?? [])
  const topics = texts.filter(topic => topic !== undefined).filter(topic => isTopicName(topic, fields, key, problems))
  const [first, ...others] = topics
  return first === undefined ? undefined : [first, ...others]
}

function readTimestamp(fields: Fields, problems: ProblemList): Pick<SourceConfig, 'timestamp' | 'onInvalidTimestamp'> {
  const node = fields.get('timestamp')
  if (node === undefined) return { timestamp: undefined, onInvalidTimestamp: undefined }
  if (node.kind !== 'map' || node.entries.has('module')) {
    return { timestamp: readExpression(node, problems), onInvalidTimestamp: undefined }
  }
  const inner = fields.fields('timestamp')
  inner?.checkKnown(['expr', 'onInvalid'])
  inner?.require('expr')
  const expression = inner?.get('expr')
  return {
    timestamp: expression === undefined ? undefined : readExpression(expression, problems),
    onInvalidTimestamp: inner?.choice('onInvalid', ['fail', 'skip', 'partitionTime']),
  }
}

function readSinkTopic(fields: Fields, problems: ProblemList): string | ExpressionSpec | undefined {
  if (fields.has('topic') === fields.has('topicFrom')) {
    const both = fields.has('topic')
    problems.add(
      both ? fields.keyPlace('topicFrom') : fields.place,
      `${fields.what} ${both ? 'has both "topic" and "topicFrom"' : 'lacks "topic"'}`,
    )
    return undefined
  }
  const chosen = fields.get('topicFrom')
  if (chosen !== undefined) return readExpression(chosen, problems)
  const topic = fields.text('topic')
  return topic !== undefined && isTopicName(topic, fields, 'topic', problems) ? topic : undefined
}
