import { CLIENT_PROPERTIES } from '../src/config/client-properties.ts'
import type { PropertyDefinition } from '../src/config/property-definition.ts'
import { STREAMS_PROPERTIES } from '../src/config/streams-properties.ts'
import {
  IGNORED_CLIENT,
  IGNORED_STREAMS,
  REFUSED_CLIENT,
  REFUSED_STREAMS,
} from '../src/config/unsupported-properties.ts'
import * as vocabulary from '../src/config/vocabulary.ts'
import type { Vocabulary } from '../src/config/vocabulary.ts'
import { signatureOf } from '../src/expressions/function-table.ts'
import { FUNCTIONS } from '../src/expressions/functions.ts'
import { SERDE_NAMES } from '../src/serdes/names.ts'

/** docs/configuration.md, from the tables the loader itself uses. */
export function configurationReference(): string {
  return `${[
    '# Configuration',
    'One YAML file is one application. Generated from the tables in `src/config` and `src/expressions`; do not edit (`npm run docs`).',
    ...fileSections(),
    ...propertySections(),
    ...expressionSections(),
  ].join('\n\n')}\n`
}

function fileSections(): readonly string[] {
  return [
    '## The file',
    keyTable(vocabulary.TOP_KEYS),
    'Names of sources, steps and sinks share one name space: letters, digits, `_` and `-`, beginning with a letter. Several files are merged left to right (maps key by key, all else is replaced, `~` removes); `--set path=value` wins.',
    '**References** are resolved after YAML has been parsed, in values only, and what they give is taken as it is: `${VAR}`, `${VAR:-default}`, `${VAR:?message}`, `${file:/path}` (without its last line break), `$$` for a dollar sign. A text stays text: `0123` is no number where a text is expected.',
    '### A source',
    keyTable(vocabulary.SOURCE_KEYS),
    '### A step',
    'A step reads what `from` names and has one operator. A list in `from` merges streams; without an operator that is all it does.',
    keyTable(vocabulary.STEP_KEYS),
    keyTable(vocabulary.OPERATORS),
    'On a table `filter`, `drop`, `value`, `join`, `suppress` and, with `groupBy`, `count`, `sum` and `aggregate` are the table’s own operators; the others need a `stream:` step first. Sinks take streams and tables (a deletion is written as null).',
    '### Windows',
    'With `window` an aggregation keeps one state per key and window. A window closes when the highest time of a record, less `grace`, reaches its end (a session: its end and the gap); the wall clock has no say. `emit: final` gives one result then, `emit: updates` one per change. A record for windows that have all closed is counted as `late` and, with `late`, written to that topic in the same transaction. The store keeps windows for `retention`; a jump in time beyond it loses final results, counted as `windowNeverEmitted`. After the aggregation keys are those of windows: `key` is the key inside, `window.start` and `window.end` its bounds in ms, in tests `{ key, start, end }`.',
    '### A sink',
    keyTable(vocabulary.SINK_KEYS),
    '### errors',
    'Of the application, or of one source (`stop`, `skip` or `deadLetter`).',
    keyTable(vocabulary.ERRORS_KEYS),
    '### stores and store',
    keyTable(vocabulary.STORES_KEYS),
    keyTable(vocabulary.STORE_KEYS),
    '### http and logging',
    keyTable(vocabulary.HTTP_KEYS),
    keyTable(vocabulary.LOGGING_KEYS),
    '### tests',
    keyTable(vocabulary.TEST_KEYS),
    'A record:',
    keyTable(vocabulary.TEST_RECORD_KEYS),
    'Events, instead of a record among the inputs:',
    keyTable(vocabulary.TEST_EVENT_KEYS),
    '## Serdes',
    `${SERDE_NAMES.map(name => `\`${name}\``).join(', ')}; with \`?\` (\`json?\`) where nulls are expected; \`{ module: ./serdes.js#order }\` for one of your own. A null on a stream source without \`?\` is a failure (\`errors.deserialization\`); a side without serde stays bytes and may be null. \`long\` refuses what a number cannot hold, \`bigint\` reads the same bytes.`,
    'What a step makes has a serde by itself: a computed key is `string` (anything but text is a failure), a template or the result of a module is `json`, `count` is `long`, `sum`, `min`, `max` and `aggregate` are `json`. `serdes: { key, value }` says otherwise. A value that a bare expression computes has none until a sink or `serdes` names it.',
  ]
}

function propertySections(): readonly string[] {
  return [
    '## Properties',
    'Under Kafka’s own names. In `kafka:` a prefix `consumer.`, `producer.` or `admin.` chooses one client; `topic.` properties set internal topics. Those marked * are ours.',
    '### streams: supported',
    propertyTable(STREAMS_PROPERTIES),
    '### kafka: supported',
    propertyTable(CLIENT_PROPERTIES),
    '### streams: refused',
    table(
      ['property', 'instead'],
      REFUSED_STREAMS.map(({ name, hint }) => [code(name), hint]),
    ),
    '### kafka: refused',
    table(
      ['property', 'instead'],
      REFUSED_CLIENT.map(({ name, hint }) => [code(name), hint]),
    ),
    '### streams: accepted and ignored, with a warning',
    table(
      ['property', 'because'],
      IGNORED_STREAMS.map(({ name, reason }) => [code(name), reason]),
    ),
    '### kafka: accepted and ignored, with a warning',
    table(
      ['property', 'because'],
      IGNORED_CLIENT.map(({ name, reason }) => [code(name), reason]),
    ),
  ]
}

function expressionSections(): readonly string[] {
  return [
    '## Expressions',
    'Expressions are CEL. A text in an expression position is an expression, so a literal text is quoted inside it (`"\'paid\'"`) or written `{ literal: paid }`; numbers, booleans and null are themselves; a map or list is a template whose leaves are expressions; `{ module: ./steps.js#isBig }` is a function of your own with the signature of the TypeScript API.',
    '- Variables: `key`, `value`, `headers`, `timestamp`, `topic`, `partition`, `offset`; and `state` in aggregations, `left` and `right` in joins and in `merge`, `item` and `index` in a flatMap, `window` where keys are those of windows.',
    '- Numbers are those of JSON: whole and fractional ones mix, `7 / 2` is 3.5, `int(7 / 2)` is 3. An integer that would be rounded (beyond 2^53) is a failure.',
    '- `a.b` where `a` is null or has no field `b` is a failure. `a.?b` is null there, and so is the rest of the chain after it. `has(a.b)` asks. `validate` knows what serdes other than `json` and your own read, and which fields an `aggregate` and a template have: it refuses what can never be there.',
    '- Only own fields are read; headers are read as text.',
    '- `||` and `&&` pass over a failing side where the other decides; a condition is true or false, nothing else.',
    '- `list.map(x, …)`, `list.map(x, condition, …)`, `filter`, `all`, `exists`, `exists_one` work on lists and on the names of objects; `cel.bind(x, value, …)` names a part. An evaluation takes at most 100,000 steps.',
    '- Nothing reads a clock, chance or the environment.',
    '### Functions',
    table(
      ['function', 'gives'],
      FUNCTIONS.map(definition => [code(signatureOf(definition)), definition.doc]),
    ),
  ]
}

function keyTable(keys: Vocabulary): string {
  return table(
    ['key', 'default', 'meaning'],
    Object.entries(keys).map(([name, { doc, default: standard, required, later }]) => [
      code(name),
      required === true ? 'required' : (standard ?? ''),
      later === undefined ? doc : `${doc} **Not supported yet.**`,
    ]),
  )
}

function propertyTable(properties: readonly PropertyDefinition[]): string {
  return table(
    ['property', 'takes', 'default', 'meaning'],
    properties.map(({ name, type, default: standard, required, doc, ours }) => [
      `${code(name)}${ours === true ? ' *' : ''}`,
      takes(type),
      required === true ? 'required' : standard === undefined ? '' : String(standard),
      doc,
    ]),
  )
}

function takes(type: PropertyDefinition['type']): string {
  switch (type.kind) {
    case 'text':
      return 'text'
    case 'secret':
      return 'text, never printed'
    case 'boolean':
      return 'true, false'
    case 'choice':
      return type.choices.join(', ')
    case 'list':
      return `${type.words.join(', ')}, or some of ${type.parts.join(', ')} with commas between`
    case 'integer':
      return type.min === type.max ? String(type.min) : `integer ≥ ${String(type.min)}`
  }
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(head), `|${'---|'.repeat(head.length)}`, ...rows.map(row)].join('\n')
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function code(text: string): string {
  return `\`${text}\``
}
