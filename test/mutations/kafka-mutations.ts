import { EVERYTHING, finding, type Mutation } from './mutation.ts'

/** Bugs in producer, fetcher and what they write and read. */
export const KAFKA_MUTATIONS: readonly Mutation[] = [
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
    name: 'read-uncommitted-restore',
    bug: 'A restore takes over changelog records of aborted transactions.',
    file: 'kafka/fetcher/fetch-answers',
    text: 'position, aborted, isolation,',
    replacement: "position, aborted, isolation: topic.endsWith('-changelog') ? 'read_uncommitted' : isolation,",
    caughtBy: [{ ...EVERYTHING, reason: finding('prefixFunction', '(?:lost|unexplained)') }],
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
    name: 'abort-filter-off-by-one',
    bug: 'An aborted transaction of one record is shown.',
    file: 'kafka/records/abort-filter',
    text: 'next.firstOffset <= lastOffset',
    replacement: 'next.firstOffset < lastOffset',
    caughtBy: [{ file: 'property/abort-filter', title: '', reason: /Property failed|AssertionError/ }],
    cheap: true,
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
    name: 'aborted-by-producer-only',
    bug: 'After one aborted transaction nothing of its producer is shown any more.',
    file: 'kafka/records/abort-filter',
    text: 'this.#aborting.delete(producerId)',
    replacement: 'void producerId',
    caughtBy: [
      {
        file: 'unit/kafka/records/record-cursor',
        title: 'leaves out what was aborted, and only that, of producers that overlap',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'sequences-not-restarted',
    bug: 'A new epoch goes on with the sequences of the old one.',
    file: 'kafka/producer/sender',
    text: 'for (const lane of this.#lanes) lane.restartSequence()',
    replacement: '',
    caughtBy: [
      {
        file: 'integration/kafka/producer-transactions',
        title: 'carries sequences on over many transactions',
        reason: /OUT_OF_ORDER_SEQUENCE|45|MillraceError/,
      },
    ],
  },
  {
    name: 'stale-fetch-taken',
    bug: 'An answer is taken that was asked for before reading went back, so that records between are passed over.',
    file: 'kafka/fetcher/fetch-answers',
    text: "partition.generation !== generation || partition.state !== 'ready' || partition.offset !== offset",
    replacement: "partition.state !== 'ready'",
    caughtBy: [
      {
        file: 'unit/kafka/fetcher/fetcher',
        title: 'drops an answer that was asked for before it went back',
        reason: /AssertionError/,
      },
    ],
    cheap: true,
  },
  {
    name: 'next-round-asked-late',
    bug: 'A member asks only after the whole heartbeat interval whether the others wait for it in another round.',
    file: 'kafka/group/group-member',
    text: 'this.#heartbeats.soon()',
    replacement: 'void this',
    caughtBy: [
      {
        file: 'unit/kafka/group/group-member',
        title: 'asks soon after an assignment whether another round has begun, and less and less often',
        reason: /AssertionError/,
      },
    ],
  },
]
