import type { ErrorPolicies } from '../model/record-failure.ts'
import type { StreamsProperties } from '../topology/properties.ts'
import type { GraphConfig, SinkConfig, SourceConfig, StepConfig, TestConfig } from './application-config.ts'
import { CheckedProperties } from './checked-properties.ts'
import type { ConfigNode } from './config-node.ts'
import { Fields } from './fields.ts'
import type { HttpConfig, KafkaProperties, LoggingConfig, MillraceConfig } from './millrace-config.ts'
import { checkNames } from './name-resolution.ts'
import type { ProblemList } from './problems.ts'
import { readKafkaProperties, readStreamsProperties, type PropertyValues } from './property-block.ts'
import { checkPropertyRules } from './property-rules.ts'
import { checkKeys, readErrors, refuseLmdb } from './read-parts.ts'
import { readSink, readSource } from './read-source.ts'
import { AGGREGATIONS, readStep } from './read-step.ts'
import { readTest } from './read-tests.ts'
import type { Place } from './source-file.ts'
import { HTTP_KEYS, LOGGING_KEYS, STORES_KEYS, TOP_KEYS } from './vocabulary.ts'

/** What a configuration says, checked as far as it can be without building the graph. */
export interface ReadApplication {
  readonly config: MillraceConfig
  readonly graph: GraphConfig
  readonly tests: readonly TestConfig[]
}

/** Reads the whole tree; mistakes are noted. */
export function readApplication(root: ConfigNode, problems: ProblemList): ReadApplication | undefined {
  const top = Fields.of(root, 'the file', problems)
  if (top === undefined) return undefined
  checkKeys(top, TOP_KEYS, problems)
  const streams = top.fields('streams', '"streams"')
  const kafka = top.fields('kafka', '"kafka"')
  const none: PropertyValues = new Map()
  const values = {
    streams: streams === undefined ? none : readStreamsProperties(streams, problems),
    kafka: kafka === undefined ? none : readKafkaProperties(kafka, problems),
  }
  const properties = new CheckedProperties(values.streams, values.kafka)
  checkPropertyRules(properties, problems, name => placeOfProperty(name, streams, kafka))
  checkApplicationId(streams, problems)
  const errorFields = top.fields('errors', '"errors"')
  const errors = errorFields === undefined ? undefined : readErrors(errorFields, problems)
  const graph = readGraph(top, problems, errors ?? {})
  if (properties.guarantee === 'at_most_once') refuseStores(graph, problems)
  const config: MillraceConfig = {
    streams: asStreams(Object.fromEntries(values.streams)),
    kafka: asKafka(Object.fromEntries(values.kafka)),
    ...(errors === undefined ? {} : { errors }),
    ...readHttp(top, problems),
    ...readLogging(top, problems),
  }
  const stores = top.fields('stores', '"stores"')
  if (stores !== undefined) {
    checkKeys(stores, STORES_KEYS, problems)
    refuseLmdb(stores, 'default', problems)
  }
  return { config, graph, tests: readTests(top, graph, problems) }
}

function readGraph(top: Fields, problems: ProblemList, errors: ErrorPolicies): GraphConfig {
  const graph: GraphConfig = {
    declared: new Set(['sources', 'steps', 'sinks'].flatMap(block => namesOf(top.get(block)))),
    sources: entriesOf<SourceConfig>(top, 'sources', 'source', problems, (name, fields) =>
      readSource(name, fields, problems, errors),
    ),
    steps: entriesOf<StepConfig>(top, 'steps', 'step', problems, (name, fields) => readStep(name, fields, problems)),
    sinks: entriesOf<SinkConfig>(top, 'sinks', 'sink', problems, (name, fields) => readSink(name, fields, problems)),
  }
  checkNames(graph, problems)
  return graph
}

function namesOf(node: ConfigNode | undefined): readonly string[] {
  return node?.kind === 'map' ? [...node.entries.keys()] : []
}

function entriesOf<T>(
  top: Fields,
  block: 'sources' | 'steps' | 'sinks',
  what: string,
  problems: ProblemList,
  read: (name: string, fields: Fields) => T | undefined,
): ReadonlyMap<string, T> {
  const entries = new Map<string, T>()
  const fields = top.fields(block, `"${block}"`)
  for (const [name, { node, keyPlace }] of fields?.node.entries ?? []) {
    const inner = Fields.of(node, `${what} "${name}"`, problems, keyPlace)
    const entry = inner === undefined ? undefined : read(name, inner)
    if (entry !== undefined) entries.set(name, entry)
  }
  return entries
}

function readTests(top: Fields, graph: GraphConfig, problems: ProblemList): readonly TestConfig[] {
  const node = top.get('tests')
  if (node === undefined) return []
  if (node.kind !== 'list') {
    problems.add(node.place, '"tests" is a list')
    return []
  }
  return node.items.flatMap(item => {
    const fields = Fields.of(item, 'the test', problems)
    return fields === undefined ? [] : [readTest(fields, graph, problems)]
  })
}

function readHttp(top: Fields, problems: ProblemList): { readonly http?: HttpConfig | false } {
  const node = top.get('http')
  if (node === undefined) return {}
  if (node.kind === 'scalar' && node.text === 'false') return { http: false }
  const fields = top.fields('http', '"http"')
  if (fields === undefined) return {}
  checkKeys(fields, HTTP_KEYS, problems)
  const [host, port] = [fields.text('host'), fields.integer('port', 0, 65_535)]
  return { http: { ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) } }
}

function readLogging(top: Fields, problems: ProblemList): { readonly logging?: LoggingConfig } {
  const fields = top.fields('logging', '"logging"')
  if (fields === undefined) return {}
  checkKeys(fields, LOGGING_KEYS, problems)
  const level = fields.choice('level', ['debug', 'info', 'warn', 'error', 'silent'])
  const format = fields.choice('format', ['json', 'pretty'])
  return { logging: { ...(level === undefined ? {} : { level }), ...(format === undefined ? {} : { format }) } }
}

/** It becomes part of topic names, group and transactional ids. */
function checkApplicationId(streams: Fields | undefined, problems: ProblemList): void {
  const node = streams?.get('application.id')
  if (node?.kind !== 'scalar' || node.broken || node.text === '' || /^[A-Za-z0-9._-]{1,200}$/.test(node.text)) return
  problems.add(
    node.place,
    '"application.id" becomes part of topic names: letters, digits, ".", "_" and "-", at most 200',
  )
}

function refuseStores(graph: GraphConfig, problems: ProblemList): void {
  const tables = [...graph.sources.values()].filter(source => source.as !== 'stream')
  const stateful = [...graph.steps.values()].filter(
    ({ operator: { kind } }) => AGGREGATIONS.has(kind) || kind === 'table' || kind === 'join',
  )
  for (const { name, place } of [...tables, ...stateful]) {
    problems.add(
      place,
      `"${name}" keeps state, which at_most_once cannot: an update is never repeated, so a lost one stays lost`,
      'use exactly_once_v2 or at_least_once',
      'STORE_NOT_ALLOWED',
    )
  }
}

function placeOfProperty(name: string, ...blocks: readonly (Fields | undefined)[]): Place | undefined {
  for (const fields of blocks) {
    for (const prefix of ['', 'producer.', 'consumer.', 'admin.']) {
      if (fields?.has(`${prefix}${name}`) === true) return fields.keyPlace(`${prefix}${name}`)
    }
  }
  return undefined
}

/** The values were checked one by one against the property table, which these types mirror. */
function asStreams(values: object): StreamsProperties
function asStreams(values: unknown): unknown {
  return values
}

function asKafka(values: object): KafkaProperties
function asKafka(values: unknown): unknown {
  return values
}
