import { EVERYTHING, finding, type Mutation } from './mutation.ts'

/** Bugs in operators, stores and the model. */
export const OPERATOR_MUTATIONS: readonly Mutation[] = [
  {
    name: 'other-murmur2',
    bug: 'Keys go to other partitions than those of Java clients.',
    file: 'model/murmur2',
    text: 'const SHIFT = 24',
    replacement: 'const SHIFT = 23',
    caughtBy: [{ ...EVERYTHING, reason: finding('prefixFunction', '(?:lost|unexplained)') }],
  },
  {
    name: 'undo-misses-deletions',
    bug: 'An abort does not bring back what the transaction deleted.',
    file: 'stores/memory-key-value-store',
    text: 'this.#undo.remember(entry)',
    replacement: 'if (bytes !== null) this.#undo.remember(entry)',
    caughtBy: [
      {
        file: 'unit/stores/memory-key-value-store',
        title: 'counts entries and bytes through puts, deletions and aborts',
        reason: /AssertionError/,
      },
    ],
    cheap: true,
  },
  {
    name: 'stale-answer-joined',
    bug: 'A join by a foreign key takes the answer to a value that the row no longer has.',
    file: 'operators/foreign-key-join',
    text: 'if (!isCurrent) {',
    replacement: 'if (!isCurrent && key === undefined) {',
    caughtBy: [
      {
        file: 'unit/operators/foreign-key-join',
        title: 'gives a result only to the value that asked',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'time-of-last-record',
    bug: 'The result of a window has the time of the record that came last, not the highest.',
    file: 'operators/time-window-aggregate',
    text: 'Math.max(timestamp, store.lastTimestamp)',
    replacement: 'timestamp',
    caughtBy: [{ file: 'golden/semantics', title: 'window-', reason: /^ +\+ +"timestamp"/m }],
  },
  {
    name: 'restore-ignores-deletions',
    bug: 'A restore keeps what was deleted.',
    file: 'stores/memory-key-value-store',
    text: 'this.#bytes -= key.length + this.#values.sizeOf(entry)',
    replacement: 'return',
    caughtBy: [{ file: 'unit/stores/memory-key-value-store', title: '', reason: /AssertionError/ }],
  },
  {
    name: 'given-headers-lost',
    bug: 'A record that a step gave other headers is written with those it was read with.',
    file: 'operators/sink',
    text: 'headers === record.sourceHeaders &&',
    replacement: '',
    caughtBy: [
      {
        file: 'unit/operators/sink',
        title: 'sends other headers where a step gave it others',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'dedupe-one-short',
    bug: 'An id is forgotten a millisecond early.',
    file: 'operators/dedupe',
    text: 'timestamp - withinMs, timestamp + withinMs',
    replacement: 'timestamp - withinMs + 1, timestamp + withinMs',
    caughtBy: [
      {
        file: 'unit/operators/dedupe',
        title: 'drops an id that was seen exactly as long ago as it is remembered',
        reason: /AssertionError/,
      },
    ],
  },
]
