import { SERDE_NAMES, serdeNamed } from '../serdes/names.ts'
import { parseDurationMs } from '../model/duration.ts'
import { nearestName } from '../model/nearest-name.ts'
import type { ErrorPolicies, RecordReaction } from '../model/record-failure.ts'
import type { SerdeSpec, StoreSpecConfig } from './application-config.ts'
import { plainValue } from './config-node.ts'
import { readModuleReference } from './expression-spec.ts'
import { isBroken, kindText, type Fields } from './fields.ts'
import type { ProblemList } from './problems.ts'
import { ERRORS_KEYS, STORE_KEYS, type Vocabulary } from './vocabulary.ts'

const REACTIONS: readonly RecordReaction[] = ['stop', 'skip', 'deadLetter']

/** Notes unknown keys, keys that are not built yet, and missing ones. */
export function checkKeys(fields: Fields, vocabulary: Vocabulary, problems: ProblemList): void {
  fields.checkKnown(Object.keys(vocabulary))
  for (const [name, { later, required }] of Object.entries(vocabulary)) {
    if (later !== undefined && fields.has(name)) refuseLater(name, fields, problems)
    if (required === true) fields.require(name)
  }
}

/** Notes that something known is not built yet. */
export function refuseLater(name: string, fields: Fields, problems: ProblemList, what?: string): void {
  const because = what === undefined ? '' : `: ${what} are missing`
  problems.add(fields.keyPlace(name), `"${name}" of ${fields.what} is not supported yet${because}`)
}

/** Stands where a serde was meant that cannot be read. */
const UNREADABLE: SerdeSpec = { kind: 'unreadable' }

/** Reads a serde: `json`, `string?`, `{ module: ./serdes.js#order }`. */
export function readSerde(fields: Fields, name: 'key' | 'value', problems: ProblemList): SerdeSpec | undefined {
  const node = fields.get(name)
  if (node === undefined) return fields.isMistyped(name) ? UNREADABLE : undefined
  if (isBroken(node)) return UNREADABLE
  const { place } = node
  if (node.kind === 'scalar' && serdeNamed(node.text) !== undefined) return { kind: 'named', name: node.text, place }
  if (node.kind === 'map') {
    const module = node.entries.get('module')
    if (module !== undefined && node.entries.size === 1) {
      const reference = readModuleReference(module.node, problems)
      return reference === undefined ? UNREADABLE : { kind: 'module', reference, place }
    }
    if (node.entries.has('windowed')) {
      const inner = node.entries.get('windowed')?.node
      if (inner?.kind === 'scalar' && serdeNamed(inner.text) !== undefined)
        return { kind: 'windowed', name: inner.text, place }
      problems.add(place, `"${name}" of ${fields.what}: the serde inside windows is one of ${SERDE_NAMES.join(', ')}`)
      return UNREADABLE
    }
  }
  const nearest = node.kind === 'scalar' ? nearestName(node.text.replace(/\?$/, ''), SERDE_NAMES) : undefined
  problems.add(
    place,
    `"${name}" of ${fields.what} is a serde, not ${kindText(node)}`,
    nearest === undefined
      ? `serdes: ${SERDE_NAMES.join(', ')}; with "?" where nulls are expected`
      : `did you mean "${nearest}"?`,
  )
  return UNREADABLE
}

/** Reads the serdes of a step. */
export function readSerdes(
  step: Fields,
  problems: ProblemList,
): { readonly key: SerdeSpec | undefined; readonly value: SerdeSpec | undefined } {
  const serdes = step.fields('serdes')
  if (serdes === undefined) {
    const unknown = step.has('serdes') || step.isMistyped('serdes') ? UNREADABLE : undefined
    return { key: unknown, value: unknown }
  }
  serdes.checkKnown(['key', 'value'])
  return { key: readSerde(serdes, 'key', problems), value: readSerde(serdes, 'value', problems) }
}

/** Reads `errors:` of the application or of a source. */
export function readErrors(fields: Fields, problems: ProblemList, inherited: ErrorPolicies = {}): ErrorPolicies {
  checkKeys(fields, ERRORS_KEYS, problems)
  const policies: ErrorPolicies = {}
  for (const phase of ['deserialization', 'processing', 'production'] as const) {
    const reaction = fields.choice(phase, REACTIONS)
    if (reaction !== undefined) policies[phase] = reaction
  }
  const topic = fields.text('deadLetterTopic')
  if (topic !== undefined && isTopicName(topic, fields, 'deadLetterTopic', problems)) policies.deadLetterTopic = topic
  const wantsTopic = Object.values(policies).includes('deadLetter')
  if (wantsTopic && !fields.has('deadLetterTopic') && inherited.deadLetterTopic === undefined) {
    problems.add(fields.place, `${fields.what} sends dead letters nowhere`, 'add deadLetterTopic: <topic>')
  }
  return policies
}

/** Reads `store:`: a name, or a map. */
export function readStore(fields: Fields, problems: ProblemList): StoreSpecConfig | undefined {
  const node = fields.get('store')
  if (node === undefined || isBroken(node)) return undefined
  if (node.kind === 'scalar') {
    return {
      name: fields.text('store'),
      maxBytes: undefined,
      logging: undefined,
      retentionMs: undefined,
      caching: undefined,
    }
  }
  const inner = fields.fields('store')
  if (inner === undefined) return undefined
  checkKeys(inner, STORE_KEYS, problems)
  refuseLmdb(inner, 'type', problems)
  const retention = inner.duration('retention')
  return {
    name: inner.text('name'),
    maxBytes: inner.integer('maxBytes', 1),
    logging: readLogging(inner),
    retentionMs: retention === undefined ? undefined : parseDurationMs(retention),
    caching: inner.boolean('caching'),
  }
}

/** Notes that stores on disk are not built yet. */
export function refuseLmdb(fields: Fields, name: string, problems: ProblemList): void {
  if (fields.choice(name, ['memory', 'lmdb']) === 'lmdb') refuseLater(name, fields, problems, 'stores on disk')
}

function readLogging(fields: Fields): StoreSpecConfig['logging'] {
  const node = fields.get('logging')
  if (node?.kind !== 'map') return fields.boolean('logging')
  return Object.fromEntries(Array.from(node.entries, ([name, entry]) => [name, String(plainValue(entry.node))]))
}

/** Whether a text can be a topic's name; notes a mistake when it cannot. Kafka: `Topic.validate`. */
export function isTopicName(topic: string, fields: Fields, key: string, problems: ProblemList): boolean {
  if (/^[A-Za-z0-9._-]{1,249}$/.test(topic) && topic !== '.' && topic !== '..') return true
  problems.add(
    fields.get(key)?.place,
    `"${key}" of ${fields.what} is no topic name: letters, digits, ".", "_" and "-", at most 249`,
  )
  return false
}
