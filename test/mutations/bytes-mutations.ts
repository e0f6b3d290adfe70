import type { Mutation } from './mutation.ts'

/** Bugs in bytes that are lent, passed on undecoded, or read and written without the runtime's own means. */
export const BYTES_MUTATIONS: readonly Mutation[] = [
  {
    name: 'json-number-rounded',
    bug: 'JSON numbers of more digits than are exact are read by sums.',
    file: 'serdes/json-cursor',
    text: 'const DIGITS_MAX = 15',
    replacement: 'const DIGITS_MAX = 17',
    caughtBy: [
      {
        file: 'unit/serdes/json-reader',
        title: 'leaves numbers to JSON.parse that it could round otherwise',
        reason: /1234567890123456/,
      },
    ],
  },
  {
    name: 'json-text-of-another',
    bug: 'A JSON text that begins like one before it is taken for that one.',
    file: 'serdes/json-reader',
    text: 'this.isAt(start, known)',
    replacement: 'known.charCodeAt(0) === bytes[start]',
    caughtBy: [
      {
        file: 'unit/serdes/json-reader',
        title: 'reads a text that repeats one before it, or differs from it by a character',
        reason: /is not/,
      },
    ],
  },
  {
    name: 'json-malformed-accepted',
    bug: 'Bytes that are no UTF-8 are read as JSON.',
    file: 'serdes/json-cursor',
    text: 'this.#isUtf8 ??= isUtf8(this.bytes.subarray(this.#start, this.end))',
    replacement: 'this.#isUtf8 ??= true',
    caughtBy: [
      {
        file: 'unit/serdes/json-reader',
        title: 'reads text beyond ASCII and escapes, and gives up on what is no text',
        reason: /not valid UTF-8/,
      },
    ],
  },
  {
    name: 'json-of-old-memory',
    bug: 'A JSON value is written to new memory, and the bytes of the old are sent.',
    file: 'serdes/json-writer',
    text: 'this.#views = []',
    replacement: 'void this',
    caughtBy: [
      {
        file: 'unit/serdes/json-writer',
        title: 'gives no bytes of memory that has become too small',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'value-read-at-key',
    bug: 'A text that is read where it lies is taken from the place of the key.',
    file: 'engine/partition-queue',
    text: '{ batch, batchView, valueAt, valueBytes }',
    replacement: '{ batch, batchView, keyAt: valueAt, keyBytes: valueBytes }',
    caughtBy: [
      {
        file: 'unit/engine/partition-queue',
        title: 'reads text where it lies in a fetched batch, key and value',
        reason: /AssertionError/,
      },
    ],
    cheap: true,
  },
  {
    name: 'window-key-hashed-whole',
    bug: 'The partition of a windowed key is chosen by the window, too.',
    file: 'operators/sink',
    text: 'keyHashes.of(partitioned)',
    replacement: 'keyHashes.of(keyBytes)',
    caughtBy: [
      {
        file: 'unit/operators/sink',
        title: "has the partition of the source's own key without the whole key",
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'merger-not-asked',
    bug: 'A key is not decoded although the merger of sessions reads it.',
    file: 'topology/windowed-grouping',
    text: '[aggregator, options.merge]',
    replacement: '[aggregator]',
    caughtBy: [
      {
        file: 'unit/topology/windowed-keys',
        title: 'reach a reducer decoded, and a merger whose aggregator reads none',
        reason: /unread/,
      },
    ],
  },
  {
    name: 'late-join-unread',
    bug: 'A record that comes too late to wait for a table goes on with a key that nobody has decoded.',
    file: 'topology/stream-joins',
    text: 'const reads = buffer',
    replacement: 'const reads = false && buffer',
    caughtBy: [
      {
        file: 'unit/topology/join-keys',
        title: 'is read where records wait for the table to have come as far',
        reason: /node waiting/,
      },
    ],
  },
  {
    name: 'compressed-batch-cut',
    bug: 'A batch that has become longer by compression is cut at the end of its memory.',
    file: 'kafka/records/record-batch-writer',
    text: 'return Buffer.concat([this.#buffer.subarray(0, BATCH.records), compressed])',
    replacement: 'void 0',
    caughtBy: [
      {
        file: 'unit/kafka/records/record-batch-writer',
        title: 'keeps all of what becomes longer when it is compressed (lz4)',
        reason: /AssertionError|cannot be decompressed/,
      },
    ],
    cheap: true,
  },
  {
    name: 'idle-key-evicted-in-use',
    bug: 'A key that has rows again is forgotten.',
    file: 'stores/keyed-rows',
    text: 'this.#idle.take(key, this.#keys.size)',
    replacement: 'void this',
    caughtBy: [
      {
        file: 'unit/stores/idle-keys',
        title: 'are those of their own key, whether it was forgotten meanwhile or not',
        reason: /InvariantError|AssertionError/,
      },
    ],
  },
  {
    name: 'malformed-text-passed-on',
    bug: 'A text in place that is no UTF-8 goes into a sum as it is, which the JVM would have replaced.',
    file: 'serdes/text-sum',
    text: '(all & BEYOND_ASCII) === 0 ? start + length : -1',
    replacement: 'start + length',
    caughtBy: [
      {
        file: 'unit/engine/text-in-place',
        title: 'may be other than ASCII, long, or no UTF-8 at all',
        reason: /AssertionError/,
      },
      {
        file: 'property/text-sum',
        title: 'are the bytes of the string that they would make',
        reason: /Property failed/,
      },
    ],
    cheap: true,
  },
  {
    name: 'text-cut-to-bytes',
    bug: 'A character beyond ASCII goes into a sum of texts as one byte.',
    file: 'serdes/text-sum',
    text: 'all < 0x80 ? start + length : -1',
    replacement: 'start + length',
    caughtBy: [
      {
        file: 'unit/engine/text-in-place',
        title: 'may be other than ASCII, long, or no UTF-8 at all',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'text-in-place-for-all',
    bug: 'Texts are left in place though a step does something else with them.',
    file: 'topology/side-flow',
    text: 'flow.isText &&= use.asText === true',
    replacement: 'void use.asText',
    caughtBy: [
      {
        file: 'unit/topology/fields-read',
        title: 'decodes them where anybody does something else with them, or keeps them',
        reason: /expected 'inPlace' to equal 'decode'/,
      },
    ],
  },
]
