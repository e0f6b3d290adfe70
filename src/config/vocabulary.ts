import { SERDE_NAMES } from '../serdes/names.ts'

/** What a key takes, as JSON Schema says it; `$defs` are those of `json-schema.ts`. */
export type SchemaFragment = Readonly<Record<string, unknown>>

/** One key of a block: for checking, for the JSON Schema and for the reference. */
export interface KeyDefinition {
  readonly doc: string
  readonly schema: SchemaFragment
  readonly default?: string
  readonly required?: boolean
  /** Known, but not built yet; the sentence says what is missing. */
  readonly later?: string
}

/** The keys of a block by name. */
export type Vocabulary = Readonly<Record<string, KeyDefinition>>

const ref = (name: string): SchemaFragment => ({ $ref: `#/$defs/${name}` })
const TEXT: SchemaFragment = { type: 'string', minLength: 1 }
const EXPRESSION = ref('expression')
const POLICY: SchemaFragment = { enum: ['stop', 'skip', 'deadLetter'] }
const COUNT: SchemaFragment = { type: 'integer', minimum: 1 }
const DURATION = ref('duration')
const NAMES: SchemaFragment = { oneOf: [TEXT, { type: 'array', items: TEXT, minItems: 1 }] }

/** Keys of the whole file. */
export const TOP_KEYS: Vocabulary = {
  streams: { doc: "Kafka Streams' properties under their own names.", schema: ref('streams'), required: true },
  kafka: { doc: "The clients' properties under Kafka's own names.", schema: ref('kafka'), required: true },
  sources: {
    doc: 'Topics that are read, by the name steps use for them.',
    schema: { type: 'object', additionalProperties: ref('source') },
    required: true,
  },
  steps: {
    doc: 'What happens to the records, by name.',
    schema: { type: 'object', additionalProperties: ref('step') },
  },
  sinks: { doc: 'Topics that are written, by name.', schema: { type: 'object', additionalProperties: ref('sink') } },
  errors: { doc: 'What a failing record does.', schema: ref('errors') },
  stores: { doc: 'Where stores live.', schema: ref('stores') },
  http: {
    doc: 'Address of the HTTP server for health and metrics; `false` starts none.',
    schema: { oneOf: [{ const: false }, ref('http')] },
  },
  logging: { doc: 'Which lines are logged, and how.', schema: ref('logging') },
  tests: { doc: 'Examples that `millrace test` runs without a broker.', schema: { type: 'array', items: ref('test') } },
}

/** Keys of a source. */
export const SOURCE_KEYS: Vocabulary = {
  topic: { doc: 'The topic to read.', schema: TEXT },
  topics: {
    doc: 'Several topics read as one stream, instead of `topic`.',
    schema: { type: 'array', items: TEXT, minItems: 1 },
  },
  as: {
    doc: 'A `stream` of records, a `table` that keeps the latest value per key, or a `globalTable` that every instance holds in full.',
    schema: { enum: ['stream', 'table', 'globalTable'] },
    default: 'stream',
  },
  key: { doc: 'Serde of the key. Left out, the key stays bytes and may be null.', schema: ref('serde') },
  value: { doc: 'Serde of the value. Left out, the value stays bytes and may be null.', schema: ref('serde') },
  timestamp: {
    doc: 'Expression for the event time in ms (or a CEL timestamp); or `{ expr, onInvalid: fail | skip | partitionTime }`.',
    schema: ref('timestamp'),
    default: "the record's own timestamp",
  },
  offsetReset: {
    doc: 'Where to start when no offset is committed.',
    schema: { enum: ['earliest', 'latest', 'none'] },
    default: '`auto.offset.reset`',
  },
  onOutOfRange: {
    doc: 'What to do when a committed offset is no longer in the log.',
    schema: { enum: ['fail', 'earliest', 'latest'] },
    default: 'fail',
  },
  errors: { doc: 'Error policies of this source alone.', schema: ref('errors') },
  store: { doc: "Name of a table's store, or how it is kept.", schema: ref('store'), default: "the source's name" },
  versioned: { doc: 'How long earlier versions of a table are kept, for joins by time.', schema: DURATION },
}

/** Keys of a step beside its operator. */
export const STEP_KEYS: Vocabulary = {
  from: {
    doc: 'Name of the source or step it reads (`split.branch` for a branch); a list merges streams.',
    schema: NAMES,
    required: true,
  },
  serdes: {
    doc: 'Serdes of what the step makes, where nothing else decides: `{ key, value }`.',
    schema: ref('serdes'),
  },
  groupBy: {
    doc: 'With an aggregation: the key to group by; records travel through a repartition topic.',
    schema: EXPRESSION,
  },
  store: {
    doc: 'Name of its store, or `{ name, type, maxBytes, logging, retention, caching }`.',
    schema: ref('store'),
    default: "the step's name",
  },
  versioned: {
    doc: 'With `table` or an aggregation without window: how long earlier versions are kept, for joins by time.',
    schema: DURATION,
  },
  window: {
    doc: 'With an aggregation: the windows it is kept in, `{ tumbling }`, `{ hopping, every }`, `{ sliding }` or `{ session }`, each with `grace`, or `{ unlimited: start }`.',
    schema: {
      type: 'object',
      properties: {
        tumbling: DURATION,
        hopping: DURATION,
        every: DURATION,
        sliding: DURATION,
        session: DURATION,
        unlimited: { type: 'integer', minimum: 0 },
        grace: DURATION,
      },
      oneOf: [
        { required: ['tumbling', 'grace'] },
        { required: ['hopping', 'every', 'grace'] },
        { required: ['sliding', 'grace'] },
        { required: ['session', 'grace'] },
        { required: ['unlimited'] },
      ],
      additionalProperties: false,
    },
  },
  emit: {
    doc: 'With windows: `updates`, or one `final` result.',
    schema: { enum: ['updates', 'final'] },
    default: 'updates',
  },
  late: {
    doc: 'With windows: `{ topic }` where records go that come too late.',
    schema: { type: 'object', properties: { topic: TEXT }, required: ['topic'], additionalProperties: false },
    default: 'dropped and counted',
  },
}

/** The operators of a step; each step has one. */
export const OPERATORS: Vocabulary = {
  filter: { doc: 'Keeps the records for which the expression is true.', schema: EXPRESSION },
  drop: { doc: 'Drops the records for which the expression is true.', schema: EXPRESSION },
  map: {
    doc: 'New `key`, `value`, `headers` and `timestamp`, each an expression; what is left out stays.',
    schema: {
      type: 'object',
      properties: { key: EXPRESSION, value: EXPRESSION, headers: EXPRESSION, timestamp: EXPRESSION },
      additionalProperties: false,
      minProperties: 1,
    },
  },
  value: { doc: 'New value.', schema: EXPRESSION },
  flatMap: {
    doc: 'Any number of records: one per element of `each`, with `key` and `value` computed of `item` and `index`; a module there is called with `(item, index, value, key, record)`.',
    schema: {
      type: 'object',
      properties: { each: EXPRESSION, key: EXPRESSION, value: EXPRESSION },
      required: ['each'],
      additionalProperties: false,
    },
  },
  key: { doc: 'New key; a stateful step after it sends the records through a repartition topic.', schema: EXPRESSION },
  split: {
    doc: 'Branches by condition, tried in order; `default` takes the rest. Read as `from: step.branch`.',
    schema: { type: 'object', additionalProperties: EXPRESSION, minProperties: 1 },
  },
  repartition: {
    doc: 'Writes to a repartition topic and reads it back: `{ partitions, partition }`.',
    schema: { type: 'object', properties: { partitions: COUNT, partition: EXPRESSION }, additionalProperties: false },
  },
  count: { doc: 'Number of records per key.', schema: { type: 'object', maxProperties: 0 } },
  sum: { doc: 'Sum of the expression per key; an integer beyond 2^53 is a failure.', schema: EXPRESSION },
  min: { doc: 'Least value of the expression per key.', schema: EXPRESSION },
  max: { doc: 'Greatest value of the expression per key.', schema: EXPRESSION },
  reduce: { doc: 'Combines `state` and `value` per key; the first value starts.', schema: EXPRESSION },
  aggregate: {
    doc: 'Builds a `state` per key: `init` (constants), `update`, on a table `subtract`, in sessions `merge` (expressions). With several `from`, `update: { a: …, b: … }` says how each adds to one state.',
    schema: {
      type: 'object',
      properties: { init: {}, update: EXPRESSION, subtract: EXPRESSION, merge: EXPRESSION },
      required: ['init', 'update'],
      additionalProperties: false,
    },
  },
  join: {
    doc: 'Joins `with` another source or step: `type` (inner, left, outer), `value` (of `left` and `right`). Two streams: `within` and `grace`. A versioned table: `grace` to wait for it. A global table, or a table by a foreign key: `on`.',
    schema: {
      type: 'object',
      properties: {
        with: TEXT,
        type: { enum: ['inner', 'left', 'outer'] },
        value: EXPRESSION,
        within: {
          oneOf: [
            DURATION,
            {
              type: 'object',
              properties: { before: DURATION, after: DURATION },
              required: ['before', 'after'],
              additionalProperties: false,
            },
          ],
        },
        grace: DURATION,
        on: EXPRESSION,
      },
      required: ['with', 'value'],
      additionalProperties: false,
    },
  },
  table: { doc: 'Stream → table: the latest value per key.', schema: { type: 'object', maxProperties: 0 } },
  stream: {
    doc: 'Table → stream of its updates; `deletions: keep | drop` (null values).',
    schema: { type: 'object', properties: { deletions: { enum: ['keep', 'drop'] } }, additionalProperties: false },
  },
  peek: {
    doc: 'Logs an expression of each record, `{ log }`, and passes it on.',
    schema: {
      oneOf: [
        { type: 'object', properties: { log: EXPRESSION }, required: ['log'], additionalProperties: false },
        ref('module'),
      ],
    },
  },
  process: { doc: 'A processor of your own, `./file.js#name`.', schema: ref('moduleText') },
  processValues: { doc: 'A processor of your own that keeps the key.', schema: ref('moduleText') },
  suppress: {
    doc: 'Holds back updates of a table: `until` its window closes (`windowCloses`) or for a time; a full buffer (`maxRecords`, `maxBytes`) emits or stops (`whenFull`).',
    schema: {
      type: 'object',
      properties: {
        until: { oneOf: [{ const: 'windowCloses' }, DURATION] },
        maxRecords: COUNT,
        maxBytes: COUNT,
        whenFull: { enum: ['emit', 'stop'] },
      },
      required: ['until'],
      additionalProperties: false,
    },
  },
  dedupe: {
    doc: 'Drops a record whose `id` was seen for the same key `within` a time; the first one passes. An id is a text, or a whole number below 2^53; `1` is not `"1"`.',
    schema: {
      type: 'object',
      properties: { id: EXPRESSION, within: DURATION },
      required: ['id', 'within'],
      additionalProperties: false,
    },
  },
}

/** Keys of a sink. */
export const SINK_KEYS: Vocabulary = {
  from: { doc: 'Name of the source or step it writes.', schema: TEXT, required: true },
  topic: { doc: 'The topic to write.', schema: TEXT },
  topicFrom: { doc: 'Expression that names the topic of each record, instead of `topic`.', schema: EXPRESSION },
  key: { doc: 'Serde of the key.', schema: ref('serde'), default: 'the one known' },
  value: { doc: 'Serde of the value.', schema: ref('serde'), default: 'the one known' },
  partition: {
    doc: 'Expression for the partition: a number, a list of numbers, or null for the default.',
    schema: EXPRESSION,
    default: "Java's murmur2 of the key",
  },
}

/** Keys of `errors`. */
export const ERRORS_KEYS: Vocabulary = {
  deserialization: {
    doc: 'Bytes that the serde refuses, and nulls where none was declared.',
    schema: POLICY,
    default: 'stop',
  },
  processing: { doc: 'An expression or a step that fails.', schema: POLICY, default: 'stop' },
  production: { doc: 'A record that cannot be written: too large, refused.', schema: POLICY, default: 'stop' },
  deadLetterTopic: { doc: 'Where dead letters go, in the same transaction.', schema: TEXT },
}

/** Keys of `stores`. */
export const STORES_KEYS: Vocabulary = {
  default: { doc: 'Engine of stores that do not choose.', schema: { enum: ['memory', 'lmdb'] }, default: 'memory' },
}

/** Keys of a `store` written as a map. */
export const STORE_KEYS: Vocabulary = {
  name: { doc: 'Name of the store and of its changelog topic.', schema: TEXT, default: "the step's name" },
  type: { doc: 'Where it lives.', schema: { enum: ['memory', 'lmdb'] }, default: '`stores.default`' },
  maxBytes: { doc: 'Most bytes it may hold per task; more is an error.', schema: COUNT, default: 'no bound' },
  logging: {
    doc: 'Whether changes go to a changelog topic; a map sets properties of that topic.',
    schema: {
      oneOf: [{ type: 'boolean' }, { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } }],
    },
    default: 'true',
  },
  retention: { doc: 'How long windows are kept after their start.', schema: DURATION, default: 'size + grace' },
  caching: {
    doc: 'Whether a cache holds back updates until the commit.',
    schema: { type: 'boolean' },
    default: 'true when `statestore.cache.max.bytes` > 0',
  },
}

/** Keys of `http`. */
export const HTTP_KEYS: Vocabulary = {
  host: { doc: 'Address to listen on.', schema: TEXT, default: '127.0.0.1' },
  port: {
    doc: 'Port to listen on; 0 takes a free one.',
    schema: { type: 'integer', minimum: 0, maximum: 65_535 },
    default: '8080',
  },
}

/** Keys of `logging`. */
export const LOGGING_KEYS: Vocabulary = {
  level: {
    doc: 'Least level that is logged.',
    schema: { enum: ['debug', 'info', 'warn', 'error', 'silent'] },
    default: 'info',
  },
  format: {
    doc: 'One JSON object per line, or lines for people.',
    schema: { enum: ['json', 'pretty'] },
    default: '`pretty` on a terminal, else `json`',
  },
}

/** Keys of a test. */
export const TEST_KEYS: Vocabulary = {
  name: { doc: 'What it shows, a sentence.', schema: TEXT, required: true },
  inputs: { doc: 'Records and events, in order.', schema: { type: 'array', items: ref('testInput') }, required: true },
  outputs: {
    doc: 'Records expected, per topic in order.',
    schema: { type: 'array', items: ref('testOutput') },
    required: true,
  },
  dropped: {
    doc: 'Records expected to be dropped, by reason; those that an abort or a restart processes again count again.',
    schema: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
  },
}

/** Keys of a record in a test. */
export const TEST_RECORD_KEYS: Vocabulary = {
  source: { doc: 'Source it is written to (inputs).', schema: TEXT },
  sink: { doc: 'Sink it is expected at (outputs).', schema: TEXT },
  topic: { doc: 'A topic instead: late, dead-letter or changelog topics have no other name.', schema: TEXT },
  key: { doc: 'The key.', schema: {}, default: 'null' },
  value: { doc: 'The value.', schema: {}, default: 'null' },
  timestamp: { doc: 'Event time in ms.', schema: { type: 'integer' }, default: '0 (inputs); not compared (outputs)' },
  headers: {
    doc: 'Headers by name; the text of their bytes.',
    schema: { type: 'object', additionalProperties: { type: ['string', 'null'] } },
    default: 'none (inputs); not compared (outputs)',
  },
}

/** Keys of an event in a test, instead of a record. */
export const TEST_EVENT_KEYS: Vocabulary = {
  advanceWallClock: { doc: 'Moves the wall clock.', schema: DURATION },
  restart: { doc: '`true`: the process dies without committing and starts again.', schema: { const: true } },
  abort: { doc: '`true`: the open transaction is aborted and its input processed again.', schema: { const: true } },
  commit: {
    doc: '`true`: commits (with `restart` or `abort` in the same test, nothing else does).',
    schema: { const: true },
  },
}

/** Schema of a serde: a name, its nullable form, or a map. */
export const SERDE_SCHEMA: SchemaFragment = {
  oneOf: [
    { enum: SERDE_NAMES.flatMap(name => [name, `${name}?`]) },
    ref('module'),
    { type: 'object', properties: { windowed: TEXT }, required: ['windowed'], additionalProperties: false },
  ],
}
