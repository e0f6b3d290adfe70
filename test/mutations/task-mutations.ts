import { EVERYTHING, finding, type Mutation } from './mutation.ts'

/** Bugs in tasks: reading, restoring, rolling back, timers. */
export const TASK_MUTATIONS: readonly Mutation[] = [
  {
    name: 'skip-one-offset',
    bug: 'Now and then a record is passed over, and its offset is committed.',
    file: 'engine/partition-queue',
    text: 'if (this.#block.next()) {',
    replacement: 'if (this.#block.next() && (this.#block.offset % 10 !== 9 || this.#block.next())) {',
    caughtBy: [{ ...EVERYTHING, reason: finding('prefixFunction', 'stopped') }],
  },
  {
    name: 'no-rewind-after-abort',
    bug: 'After an abort reading goes on where it was.',
    file: 'engine/input-rewinder',
    text: 'this.#fetcher.seek(input.topicPartition, input.rewindTo)',
    replacement: 'void input',
    caughtBy: [
      { ...EVERYTHING, reason: finding('prefixFunction', 'lost') },
      {
        file: 'unit/engine/commit-strategies',
        title: 'goes back to what is committed at an abort, reading position and queue with it',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'restore-to-last-stable-offset',
    bug: 'A restore ends at the last stable offset, though a commit may lie behind it.',
    file: 'engine/changelog-restorer',
    text: "listOffsets(changelogs, 'latest', 'read_uncommitted')",
    replacement: "listOffsets(changelogs, 'latest', 'read_committed')",
    caughtBy: [
      {
        file: 'unit/engine/changelog-restorer',
        title: 'takes the end of the log and not the last stable offset as its goal (I12)',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'store-before-commit-without-rollback',
    bug: 'Stores keep what an aborted transaction wrote.',
    file: 'engine/stream-task',
    text: 'for (const store of this.stores) store.abort()',
    replacement: 'for (const store of this.stores) store.commit()',
    caughtBy: [
      { ...EVERYTHING, reason: finding('prefixFunction', '(?:lost|unexplained)') },
      {
        file: 'unit/engine/stream-task',
        title: 'takes stores, times and variables back to the last commit on abort',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'drop-one-changelog-write',
    bug: 'Now and then a store writes no changelog record.',
    file: 'engine/task-stores',
    text: 'output.send(partition, key, value, timestamp, headers)',
    replacement: 'if (timestamp % 7 !== 0) output.send(partition, key, value, timestamp, headers)',
    caughtBy: [{ ...EVERYTHING, reason: finding('prefixFunction', 'lost') }],
  },
  {
    name: 'held-result-fails-again',
    bug: 'A held-back result that fails and is passed over stays where it was, and the record that let it go is given up.',
    file: 'operators/releases',
    text: 'return failed === NONE ? undefined : failed',
    replacement: 'return undefined',
    caughtBy: [
      {
        file: 'unit/engine/held-failures',
        title: 'is passed over alone: neither the record that let it go nor those that follow are lost (a suppress)',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'swallow-poison',
    bug: 'A refused record leads to no dead letter.',
    file: 'engine/task-failures',
    text: 'this.#sendDeadLetter(failure, deadLetterTopic)',
    replacement: 'void deadLetterTopic',
    caughtBy: [
      { ...EVERYTHING, reason: finding('deadLetters', 'lost') },
      {
        file: 'unit/engine/stream-task',
        title: 'writes a dead letter with the original bytes and where it came from',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'one-record-twice-after-restart',
    bug: 'A task begins one record before the committed offset.',
    file: 'engine/task-starter',
    text: 'input.rewindTo = found.offset',
    replacement: 'input.rewindTo = Math.max(0, found.offset - 1)',
    caughtBy: [
      // Where the last offset is a marker's nothing is read twice, but the commit goes back.
      { ...EVERYTHING, reason: finding('(?:anomalies|monotony)', '(?:duplicate|goes back)') },
      {
        file: 'unit/engine/task-starter',
        title: 'goes on at the committed offsets, asked for once for all tasks',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'variables-not-rolled-back',
    bug: 'Observed times stay where an aborted transaction had brought them, so that its records come late.',
    file: 'engine/stream-task',
    text: 'this.variables.abort()',
    replacement: '',
    caughtBy: [
      { ...EVERYTHING, reason: finding('prefixFunction', 'lost') },
      {
        file: 'unit/engine/stream-task-times',
        title: 'that windows have observed are taken back on abort, so that what comes again is not late',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'savepoint-leaks-output',
    bug: 'What a record wrote before it failed stays.',
    file: 'engine/stream-task',
    text: 'this.#ports.collector.rollbackRecord() for (const store of this.stores) store.rollbackRecord()',
    replacement: 'for (const store of this.stores) store.rollbackRecord()',
    caughtBy: [
      {
        file: 'unit/engine/stream-task',
        title: 'leaves no output and no state of a record that fails late (I16)',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'savepoint-leaks-state',
    bug: 'What a record stored before it failed stays.',
    file: 'engine/stream-task',
    text: 'for (const store of this.stores) store.rollbackRecord()',
    replacement: '',
    caughtBy: [
      {
        file: 'unit/engine/stream-task',
        title: 'leaves no output and no state of a record that fails late (I16)',
        reason: /AssertionError/,
      },
    ],
    cheap: true,
  },
  {
    name: 'restore-ends-early',
    bug: 'A restore ends one offset before the end of the changelog.',
    file: 'engine/changelog-restorer',
    text: 'if (restoring.position >= restoring.endOffset) this.#finish(restoring)',
    replacement: 'if (restoring.position >= restoring.endOffset - 1) this.#finish(restoring)',
    caughtBy: [
      {
        file: 'unit/engine/changelog-restorer',
        title: 'waits for the very last offset: it may be a record',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'markers-not-passed',
    bug: 'Positions stay before the markers at the end of a block, so the lag is never 0.',
    file: 'engine/partition-queue',
    text: 'this.#position = this.#block.position',
    replacement: '',
    caughtBy: [
      {
        file: 'unit/engine/stream-task',
        title: 'moves its position past control records and gaps at the end of a block',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'newest-input-first',
    bug: 'Of several inputs the record with the highest time is taken first.',
    file: 'engine/stream-task',
    text: 'queue.timestamp < chosen.timestamp',
    replacement: 'queue.timestamp > chosen.timestamp',
    caughtBy: [
      {
        file: 'unit/engine/stream-task',
        title: 'takes the lowest timestamp of its inputs first',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'tombstones-not-logged',
    bug: 'A deletion in a store writes no changelog record, so the key comes back with a restore.',
    file: 'engine/task-stores',
    text: 'output.send(partition, key, value, timestamp, headers)',
    replacement: 'if (value !== null) output.send(partition, key, value, timestamp, headers)',
    caughtBy: [{ ...EVERYTHING, reason: finding('(?:prefixFunction|state)', '(?:lost|state differs)') }],
  },
  {
    name: 'timer-not-kept',
    bug: 'A timer of event time begins anew with a restart, so that it fires once more.',
    file: 'engine/punctuations',
    text: "kept: this.#clock === 'streamTime'",
    replacement: 'kept: false',
    caughtBy: [
      {
        file: 'unit/engine/stream-task',
        title: 'reads a kept variable back, so that a restart changes no punctuation',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'restored-with-input',
    bug: 'A table that is restored from its source topic takes records over that are still to be processed.',
    file: 'engine/changelog-restorer',
    text: 'Math.min(logEnd, input.committed ?? startOffset)',
    replacement: 'logEnd',
    caughtBy: [
      {
        file: 'unit/engine/changelog-restorer',
        title: 'ends at the committed offset: what follows is input that is still to be processed',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'sent-is-not-written',
    bug: 'A task that only sent something, from a timer, owes no commit: its transaction has no offsets (I5).',
    file: 'engine/stream-task',
    text: 'if (this.#ports.collector.endRecord()) this.#wrote = true',
    replacement: 'this.#ports.collector.endRecord()',
    caughtBy: [
      {
        file: 'unit/engine/stream-task',
        title: 'owes a commit for what a punctuation sent, though no store changed',
        reason: /AssertionError/,
      },
    ],
  },
]
