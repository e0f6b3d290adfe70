/** A test that has to go red, and why. */
export interface Catcher {
  /** Path below `test/`, without ending. */
  readonly file: string
  /** Part of the test's title. */
  readonly title: string
  /** What its failure has to say: red for another reason does not count. */
  readonly reason: RegExp
}

/** A bug that is put into a copy of the compiled sources. */
export interface Mutation {
  /** Kebab-case; `--only` takes it. */
  readonly name: string
  /** What is wrong then, in one sentence. */
  readonly bug: string
  /** Path below `src/`, without ending. */
  readonly file: string
  /** Must be there exactly once; blanks, quotes and semicolons may differ. */
  readonly text: string
  readonly replacement: string
  readonly caughtBy: readonly Catcher[]
  /** Whether it is quick enough for every run of the tests: no broker. */
  readonly cheap?: true
}

const EVERYTHING = {
  file: 'integration/verification/everything',
  title: 'is consistent after an abort, a kill −9, restores and a second thread',
} as const

/** The checker's finding, as the failed test shows it. */
function finding(check: string, kind: string): RegExp {
  return new RegExp(`"check":"${check}","kind":"${kind}"`)
}

/** Every seeded bug, with the tests that must find it. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'skip-one-offset',
    bug: 'Now and then a record is passed over, and its offset is committed.',
    file: 'engine/partition-queue',
    text: 'if (this.#block.next()) {',
    replacement: 'if (this.#block.next() && (this.#block.offset % 10 !== 9 || this.#block.next())) {',
    caughtBy: [{ ...EVERYTHING, reason: finding('totals', 'lost') }],
  },
  {
    name: 'commit-before-flush',
    bug: 'Offsets are committed before the outputs are acknowledged.',
    file: 'engine/commit-cycle',
    text: 'await producer.flush(stepTimeoutMs)',
    replacement: 'void stepTimeoutMs',
    caughtBy: [
      {
        file: 'unit/engine/commit-cycle',
        title: 'flushes, sends offsets and ends the transaction, in this order',
        reason: /AssertionError/,
      },
    ],
    cheap: true,
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
    name: 'reuse-epoch-after-timeout',
    bug: 'After an EndTxn without an answer no new epoch is taken: the late request ends the next transaction (F18).',
    file: 'kafka/producer/transaction-manager',
    text: 'this.#options.identity.renew(deadline)',
    replacement: "Promise.resolve('ours')",
    caughtBy: [
      {
        file: 'integration/kafka/producer-faults',
        title: 'is not hurt by a late EndTxn',
        reason: /the late request is refused/,
      },
    ],
  },
  {
    name: 'reuse-epoch-when-unsure',
    bug: 'An epoch under which a request got no answer begins another transaction (I9).',
    file: 'kafka/producer/transaction-manager',
    text: "return this.#doubt === 'unsure' && identity.protocol === 1",
    replacement: 'return false',
    caughtBy: [
      {
        file: 'integration/kafka/producer-faults',
        title: 'takes a new epoch before the next transaction after an answer was lost (I9)',
        reason: /expected false to equal true/,
      },
    ],
  },
  {
    name: 'unsure-abort-believed',
    bug: 'An abort after a lost answer takes no new epoch: a late copy of the request opens the next transaction (I9).',
    file: 'kafka/producer/transaction-manager',
    text: "if (this.#options.identity.protocol === 1 && this.#doubt !== 'none') return false",
    replacement: '',
    caughtBy: [
      {
        file: 'integration/kafka/producer-faults',
        title: 'refuses a late copy of AddPartitionsToTxn after an abort',
        reason: /the late copy is refused/,
      },
    ],
  },
  {
    name: 'forgotten-id-taken-for-fenced',
    bug: 'An id that the broker has forgotten is taken for one that another process has.',
    file: 'kafka/producer/transaction-manager',
    text: 'if (answer.errorCode !== 0) return false',
    replacement:
      "if (answer.errorCode === 49) { this.#move('fencedByOther'); throw fencedError(this.#options.transactionalId) } if (answer.errorCode !== 0) return false",
    caughtBy: [
      {
        file: 'integration/kafka/producer-faults',
        title: 'asks before it believes that an id the broker does not know',
        reason: /Another process uses the transactional id/,
      },
    ],
  },
  {
    name: 'read-uncommitted-input',
    bug: 'Input of open and aborted transactions is processed.',
    file: 'engine/thread-parts',
    text: "isolation: 'read_committed'",
    replacement: "isolation: 'read_uncommitted'",
    caughtBy: [{ ...EVERYTHING, reason: finding('dirtyInput', 'dirty read') }],
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
    name: 'read-uncommitted-restore',
    bug: 'A restore takes over changelog records of aborted transactions.',
    file: 'kafka/fetcher/fetch-answers',
    text: 'position, aborted, isolation, ',
    replacement: "position, aborted, isolation: topic.endsWith('-changelog') ? 'read_uncommitted' : isolation, ",
    caughtBy: [{ ...EVERYTHING, reason: finding('prefixFunction', '(?:lost|unexplained)') }],
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
    name: 'resend-with-new-sequence',
    bug: 'A batch that is sent again gets a new sequence, so the broker cannot tell that it has it.',
    file: 'kafka/producer/sender',
    text: 'if (batch.baseSequence < 0) this.#firstSend(lane, batch)',
    replacement: 'this.#firstSend(lane, batch)',
    caughtBy: [
      {
        file: 'integration/kafka/producer-faults',
        title: 'sends again what was in flight on a connection that broke, without loss or duplicate',
        reason: /AssertionError|MillraceError|InvariantError/,
      },
    ],
  },
  {
    name: 'require-stable-off',
    bug: 'Committed offsets are read while a transaction that may change them is open.',
    file: 'kafka/group/offset-fetch-request',
    text: '{ groups: [{ groupId, topics }], requireStable: true }',
    replacement: '{ groups: [{ groupId, topics }], requireStable: false }',
    caughtBy: [
      {
        file: 'integration/kafka/group-offsets',
        title: 'waits while an open transaction holds an offset, and reads the old one when it aborts (KIP-447)',
        reason: /expected a failure, got/,
      },
    ],
  },
  {
    name: 'swallow-poison',
    bug: 'A refused record leads to no dead letter.',
    file: 'engine/stream-task',
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
    name: 'other-murmur2',
    bug: 'Keys go to other partitions than those of Java clients.',
    file: 'model/murmur2',
    text: 'const SHIFT = 24',
    replacement: 'const SHIFT = 23',
    caughtBy: [{ ...EVERYTHING, reason: finding('prefixFunction', '(?:lost|unexplained)') }],
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
    name: 'offset-of-another-task',
    bug: 'A task commits the position of the first task of the thread.',
    file: 'engine/commit-offsets',
    text: 'const offset = task.positionOf(input)',
    replacement: 'const offset = tasks[0].positionOf(tasks[0].inputs[0])',
    caughtBy: [
      {
        file: 'unit/engine/commit-cycle',
        title: 'names every source partition of a task that read on, those that stood still too',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'abort-filter-off-by-one',
    bug: 'An aborted transaction of one record is shown.',
    file: 'kafka/records/abort-filter',
    text: 'next.firstOffset <= lastOffset',
    replacement: 'next.firstOffset < lastOffset',
    caughtBy: [{ file: 'property/abort-filter', title: '', reason: /Property failed|AssertionError/ }],
    cheap: true,
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
    name: 'unknown-outcome-believed',
    bug: 'A commit without an answer is taken for done.',
    file: 'engine/commit-cycle',
    text: "answer === 'unknown' &&",
    replacement: 'false &&',
    caughtBy: [
      {
        file: 'unit/engine/commit-cycle',
        title: 'takes the offsets of the commit before as an abort',
        reason: /the promise was fulfilled/,
      },
    ],
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
    name: 'time-not-committed',
    bug: 'The partition time is not kept with the offset, so a restart forgets it.',
    file: 'engine/commit-offsets',
    text: 'const partitionTime = task.task.partitionTime(input.topicPartition.topic)',
    replacement: 'const partitionTime = -1',
    caughtBy: [
      {
        file: 'unit/engine/commit-cycle',
        title: 'commits the partition time and a number that no other transaction has',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'stale-variables-believed',
    bug: 'Variables are taken over that belong to another offset.',
    file: 'engine/commit-offsets',
    text: 'numberOf(variables.get(OFFSET_KEY)) !== committed.offset',
    replacement: 'false',
    caughtBy: [
      {
        file: 'unit/engine/task-starter',
        title: 'ignores variables that belong to another offset: a JVM application carries foreign keys on',
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
    name: 'offsets-without-generation',
    bug: 'Offsets are sent into the transaction without a generation, so the group fences no zombie.',
    file: 'kafka/producer/transaction-offsets',
    text: 'generationIdOrMemberEpoch: member.generationId, memberId: member.memberId, groupInstanceId: member.groupInstanceId,',
    replacement: "generationIdOrMemberEpoch: -1, memberId: '', groupInstanceId: null,",
    caughtBy: [
      {
        file: 'integration/kafka/producer-transactions',
        title: 'loses its membership with the right error, and commits nothing then',
        reason: /nothing was thrown/,
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
]
