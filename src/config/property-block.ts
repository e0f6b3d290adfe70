import { nearestName } from '../model/nearest-name.ts'
import { CLIENT_PREFIXES, CLIENT_PROPERTIES } from './client-properties.ts'
import { isBroken, type Fields } from './fields.ts'
import type { ProblemList } from './problems.ts'
import type { PropertyDefinition } from './property-definition.ts'
import { Secret } from './secret.ts'
import type { Place } from './source-file.ts'
import { STREAMS_PROPERTIES } from './streams-properties.ts'
import {
  IGNORED_CLIENT,
  IGNORED_STREAMS,
  REFUSED_CLIENT,
  REFUSED_STREAMS,
  type IgnoredProperty,
  type RefusedProperty,
} from './unsupported-properties.ts'

/** A property's value as it was read: the word, number or secret its type asks for. */
export type PropertyValue = string | number | boolean | Secret

/** The properties of a block by their full names, defaults not filled in. */
export type PropertyValues = ReadonlyMap<string, PropertyValue>

/** Reads the `streams:` block. */
export function readStreamsProperties(fields: Fields, problems: ProblemList): PropertyValues {
  return readBlock(fields, problems, STREAMS_BLOCK)
}

/** Reads the `kafka:` block: base names for all clients, prefixed ones for one of them, `topic.` ones for internal topics. */
export function readKafkaProperties(fields: Fields, problems: ProblemList): PropertyValues {
  return readBlock(fields, problems, KAFKA_BLOCK)
}

interface Block {
  readonly supported: ReadonlyMap<string, PropertyDefinition>
  readonly refused: readonly RefusedProperty[]
  readonly ignored: readonly IgnoredProperty[]
  readonly prefixes: readonly string[]
  /** Name of the other block and the names that belong there. */
  readonly other: { readonly block: string; readonly names: ReadonlySet<string> }
}

const STREAMS_BLOCK: Block = {
  supported: new Map(STREAMS_PROPERTIES.map(property => [property.name, property])),
  refused: REFUSED_STREAMS,
  ignored: IGNORED_STREAMS,
  prefixes: [],
  other: { block: 'kafka', names: namesOf(CLIENT_PROPERTIES, REFUSED_CLIENT, IGNORED_CLIENT) },
}

const KAFKA_BLOCK: Block = {
  supported: new Map(CLIENT_PROPERTIES.map(property => [property.name, property])),
  refused: REFUSED_CLIENT,
  ignored: IGNORED_CLIENT,
  prefixes: CLIENT_PREFIXES,
  other: { block: 'streams', names: namesOf(STREAMS_PROPERTIES, REFUSED_STREAMS, IGNORED_STREAMS) },
}

function namesOf(...lists: readonly (readonly { readonly name: string }[])[]): ReadonlySet<string> {
  return new Set(lists.flat().map(({ name }) => name))
}

/** Prefixes of Kafka Streams for clients that do not exist apart here. */
const OTHER_PREFIXES = ['main.consumer.', 'restore.consumer.', 'global.consumer.'] as const

function readBlock(fields: Fields, problems: ProblemList, block: Block): PropertyValues {
  const values = new Map<string, PropertyValue>()
  for (const [name, { keyPlace }] of fields.node.entries) {
    if (name.startsWith('topic.')) {
      const text = fields.text(name)
      if (text !== undefined) values.set(name, text)
      continue
    }
    const value = readProperty(name, keyPlace, { fields, problems, block })
    if (value !== undefined) values.set(name, value)
  }
  for (const { name, required } of block.supported.values()) if (required === true) fields.require(name)
  return values
}

interface Reading {
  readonly fields: Fields
  readonly problems: ProblemList
  readonly block: Block
}

function readProperty(name: string, place: Place, { fields, problems, block }: Reading): PropertyValue | undefined {
  const prefix = block.prefixes.find(candidate => name.startsWith(`${candidate}.`))
  const base = prefix === undefined ? name : name.slice(prefix.length + 1)
  const definition = block.supported.get(base)
  if (definition !== undefined) {
    if (prefix !== undefined && definition.clients?.some(client => client === prefix) === false) {
      problems.add(
        place,
        `"${base}" is no property of the ${prefix}`,
        `write "${base}" or "${definition.clients.join('.')}.${base}"`,
      )
      return undefined
    }
    return readValue(name, definition, fields, problems)
  }
  const refused = block.refused.find(candidate => matches(candidate.name, base))
  if (refused !== undefined) {
    problems.add(place, `"${name}" is not supported`, refused.hint)
    return undefined
  }
  const ignored = block.ignored.find(candidate => candidate.name === base)
  if (ignored !== undefined) {
    problems.warn(place, `"${name}" is ignored`, ignored.reason)
    return undefined
  }
  addUnknown(name, place, problems, block)
  return undefined
}

function addUnknown(name: string, place: Place, problems: ProblemList, block: Block): void {
  const unused = OTHER_PREFIXES.find(prefix => name.startsWith(prefix))
  if (unused !== undefined) {
    problems.add(
      place,
      `"${name}" is not supported`,
      `there is one consumer per thread: write "consumer.${name.slice(unused.length)}"`,
    )
    return
  }
  const clientPrefix = CLIENT_PREFIXES.find(candidate => name.startsWith(`${candidate}.`))
  if (block.other.names.has(clientPrefix === undefined ? name : name.slice(clientPrefix.length + 1))) {
    problems.add(place, `"${name}" belongs under "${block.other.block}:"`, undefined, 'CONFIG_UNKNOWN_PROPERTY')
    return
  }
  const prefix = block.prefixes.find(candidate => candidate === clientPrefix)
  const base = prefix === undefined ? name : name.slice(prefix.length + 1)
  const nearest = nearestName(base, block.supported.keys())
  const suggestion =
    nearest === undefined
      ? 'docs/configuration.md lists all'
      : `did you mean "${prefix === undefined ? '' : `${prefix}.`}${nearest}"?`
  problems.add(place, `unknown property "${name}"`, suggestion, 'CONFIG_UNKNOWN_PROPERTY')
}

function readValue(
  name: string,
  { type, instead }: PropertyDefinition,
  fields: Fields,
  problems: ProblemList,
): PropertyValue | undefined {
  switch (type.kind) {
    case 'text':
      return fields.text(name)
    case 'integer':
      return fields.integer(name, type.min, type.max, instead)
    case 'boolean':
      return fields.boolean(name)
    case 'choice':
      return fields.choice(name, type.choices)
    case 'list':
      return fields.list(name, type.words, type.parts)
    case 'secret': {
      const node = fields.get(name)
      if (node?.kind === 'scalar' && !node.interpolated && !isBroken(node)) {
        problems.warn(
          fields.keyPlace(name),
          `"${name}" stands in the file as it is`,
          'refer to it by ${VAR} or ${file:/path}',
        )
      }
      const text = fields.text(name)
      return text === undefined ? undefined : new Secret(text)
    }
  }
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name
}
