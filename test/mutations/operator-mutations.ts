import { EVERYTHING, finding, type Catcher, type Mutation } from './mutation.ts'

/** The comparison of random topologies with a naive model. */
const RANDOM_TOPOLOGIES: Catcher = {
  file: 'property/random-topologies/random-topologies',
  title: '',
  reason: /Property failed after[^]+instead of/,
}

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
  {
    name: 'split-to-both',
    bug: 'A record that a branch takes goes to the default branch, too.',
    file: 'operators/stateless',
    text: 'branches[at]?.(key, value, timestamp, headers)',
    replacement: 'rest?.(key, value, timestamp, headers), branches[at]?.(key, value, timestamp, headers)',
    caughtBy: [RANDOM_TOPOLOGIES],
  },
  {
    name: 'group-keeps-old',
    bug: 'A row of a table that goes to another group stays in its old one.',
    file: 'operators/table-group',
    text: 'next(before[0], new Change(before[1], null), timestamp, headers)',
    replacement: 'void 0',
    caughtBy: [RANDOM_TOPOLOGIES],
  },
  {
    name: 'match-leaves-unmatched',
    bug: 'A record of an outer join that has met a partner still counts as one without.',
    file: 'operators/unmatched-records',
    text: 'if (store.has(key)) store.put(key, null, timestamp)',
    replacement: 'void timestamp',
    caughtBy: [RANDOM_TOPOLOGIES],
  },
  {
    name: 'hopping-windows-left-out',
    bug: 'A record is missing in the last hopping windows that hold it.',
    file: 'operators/time-window-aggregate',
    text: 'timestamp - sizeMs + advanceMs',
    replacement: 'timestamp - sizeMs',
    caughtBy: [RANDOM_TOPOLOGIES],
  },
  {
    name: 'tie-from-last-queue',
    bug: 'Of two inputs with records of one time the last one comes first.',
    file: 'engine/stream-task',
    text: 'queue.timestamp < chosen.timestamp',
    replacement: 'queue.timestamp <= chosen.timestamp',
    caughtBy: [RANDOM_TOPOLOGIES],
  },
  {
    name: 'subscription-never-ends',
    bug: 'A row that refers to another row than before is still told of the old one.',
    file: 'operators/foreign-key-join',
    text: 'isOver ? null : subscription.bytes',
    replacement: 'subscription.bytes',
    caughtBy: [RANDOM_TOPOLOGIES],
  },
  {
    name: 'held-one-more',
    bug: 'A suppress holds an update back a millisecond too long.',
    file: 'operators/suppress',
    text: 'store.firstTime <= observed.value - waitMs',
    replacement: 'store.firstTime < observed.value - waitMs',
    caughtBy: [RANDOM_TOPOLOGIES],
  },
  {
    name: 'version-holds-later',
    bug: 'A version does not hold yet at the time it holds from.',
    file: 'stores/memory-versioned-store',
    text: 'this.#latest.lastTimestamp <= asOf',
    replacement: 'this.#latest.lastTimestamp < asOf',
    caughtBy: [RANDOM_TOPOLOGIES],
  },
  {
    name: 'windows-survive-abort',
    bug: 'An abort leaves the windows of the transaction in their store.',
    file: 'stores/memory-timed-store',
    text: 'this.#undo.abort(this.#undone, this.#forget)',
    replacement: 'this.#undo.commit(this.#forget)',
    caughtBy: [RANDOM_TOPOLOGIES],
  },
  {
    name: 'filter-tells-nothing-new',
    bug: 'A filter of a table tells deletions of what it never let through.',
    file: 'operators/table',
    text: 'before === null && after === null) return',
    replacement: 'before === null && after === null && name === null) return',
    caughtBy: [RANDOM_TOPOLOGIES],
  },
]
