import { CLIENT_PREFIXES, CLIENT_PROPERTIES } from './client-properties.ts'
import type { PropertyDefinition, PropertyType } from './property-definition.ts'
import { STREAMS_PROPERTIES } from './streams-properties.ts'
import {
  ERRORS_KEYS,
  HTTP_KEYS,
  LOGGING_KEYS,
  OPERATORS,
  SERDE_SCHEMA,
  SINK_KEYS,
  SOURCE_KEYS,
  STEP_KEYS,
  STORE_KEYS,
  STORES_KEYS,
  TEST_EVENT_KEYS,
  TEST_KEYS,
  TEST_RECORD_KEYS,
  TOP_KEYS,
  type SchemaFragment,
  type Vocabulary,
} from './vocabulary.ts'

/** A value that a reference gives: `${VAR}`, `${file:/path}`. */
const REFERENCE: SchemaFragment = { type: 'string', pattern: String.raw`\$\{` }

/** The JSON Schema of a configuration file, for editors: `millrace schema`. Draft 7, which YAML language servers know best. */
export function jsonSchema(): SchemaFragment {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'millrace application',
    description: 'One file is one application; docs/configuration.md explains each key.',
    ...objectOf(TOP_KEYS),
    $defs: {
      streams: propertyBlock(STREAMS_PROPERTIES, ['']),
      kafka: propertyBlock(CLIENT_PROPERTIES, ['', ...CLIENT_PREFIXES.map(prefix => `${prefix}.`)]),
      source: objectOf(SOURCE_KEYS),
      step: { ...objectOf({ ...STEP_KEYS, ...OPERATORS }) },
      sink: objectOf(SINK_KEYS),
      errors: objectOf(ERRORS_KEYS),
      stores: objectOf(STORES_KEYS),
      store: { oneOf: [{ type: 'string', minLength: 1 }, objectOf(STORE_KEYS)] },
      http: objectOf(HTTP_KEYS),
      logging: objectOf(LOGGING_KEYS),
      test: objectOf(TEST_KEYS),
      testInput: { oneOf: [objectOf(without(TEST_RECORD_KEYS, 'sink')), ...Object.keys(TEST_EVENT_KEYS).map(eventOf)] },
      testOutput: objectOf(without(TEST_RECORD_KEYS, 'source')),
      serde: SERDE_SCHEMA,
      serdes: {
        type: 'object',
        properties: { key: { $ref: '#/$defs/serde' }, value: { $ref: '#/$defs/serde' } },
        additionalProperties: false,
      },
      expression: {
        description:
          'A CEL expression; a map or list of expressions is a template; { literal: … } is a plain value; { module: ./file.js#name } a function of your own.',
      },
      module: {
        type: 'object',
        properties: { module: { $ref: '#/$defs/moduleText' } },
        required: ['module'],
        additionalProperties: false,
      },
      moduleText: { type: 'string', pattern: '^[^#]+#[A-Za-z_$][A-Za-z0-9_$]*$' },
      timestamp: {
        anyOf: [
          { type: 'string' },
          { $ref: '#/$defs/module' },
          {
            type: 'object',
            properties: {
              expr: { $ref: '#/$defs/expression' },
              onInvalid: { enum: ['fail', 'skip', 'partitionTime'] },
            },
            required: ['expr'],
            additionalProperties: false,
          },
        ],
      },
      duration: {
        anyOf: [
          { type: 'integer', minimum: 0 },
          { type: 'string', pattern: String.raw`^\d+(\.\d+)?(ms|s|m|h|d)$|^\d+$|\$\{` },
        ],
      },
    },
  }
}

function objectOf(vocabulary: Vocabulary): SchemaFragment {
  const entries = Object.entries(vocabulary).filter(([, { later }]) => later === undefined)
  const required = entries.filter(([, key]) => key.required === true).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, { doc, schema, default: standard }]) => [name, described(schema, doc, standard)]),
    ),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}

function eventOf(name: string): SchemaFragment {
  const key = TEST_EVENT_KEYS[name]
  return objectOf(key === undefined ? {} : { [name]: { ...key, required: true } })
}

function propertyBlock(definitions: readonly PropertyDefinition[], prefixes: readonly string[]): SchemaFragment {
  const properties = definitions.flatMap(definition =>
    prefixes
      .filter(prefix => prefix === '' || definition.clients?.some(client => `${client}.` === prefix) === true)
      .map(
        prefix =>
          [
            `${prefix}${definition.name}`,
            described(typeSchema(definition.type), definition.doc, definition.default),
          ] as const,
      ),
  )
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    // Of a YAML file split in two, each part may lack what the other has; only a whole one needs it.
    required: definitions.filter(definition => definition.required === true).map(definition => definition.name),
  }
}

function typeSchema(type: PropertyType): SchemaFragment {
  switch (type.kind) {
    case 'text':
    case 'secret':
      return { type: ['string', 'number'] }
    case 'integer':
      return { anyOf: [{ type: 'integer', minimum: type.min, maximum: type.max }, REFERENCE] }
    case 'boolean':
      return { anyOf: [{ type: 'boolean' }, REFERENCE] }
    case 'choice':
      return { anyOf: [{ enum: type.choices.flatMap(wordAndValue) }, REFERENCE] }
    case 'list': {
      const part = `(${type.parts.map(name => name.replaceAll('.', '\\.')).join('|')})`
      return { anyOf: [{ enum: type.words }, { type: 'string', pattern: `^${part}( *, *${part})*$` }, REFERENCE] }
    }
  }
}

/** YAML reads `true` and `-1` as values, not as words. */
function wordAndValue(word: string): readonly (string | boolean | number)[] {
  if (word === 'true' || word === 'false') return [word, word === 'true']
  return /^-?\d+$/.test(word) ? [word, Number(word)] : [word]
}

function described(
  schema: SchemaFragment,
  doc: string,
  standard: string | number | boolean | undefined,
): SchemaFragment {
  const description = standard === undefined ? doc : `${doc} Default: ${String(standard)}.`
  // Draft 7 ignores everything beside a $ref.
  return '$ref' in schema ? { description, allOf: [schema] } : { description, ...schema }
}

function without(vocabulary: Vocabulary, name: string): Vocabulary {
  return Object.fromEntries(Object.entries(vocabulary).filter(([key]) => key !== name))
}
