import type { Mutation } from './mutation.ts'

const TRANSACTIONS = 'unit/kafka/producer/producer-transactions'
const OFFSETS = 'unit/kafka/producer/producer-offsets'
const COMMITTED = 'unit/kafka/group/group-offsets'

/** Bugs in what a producer makes of the answers that end a transaction, and in the offsets on their way to and from the group. */
export const TRANSACTION_MUTATIONS: readonly Mutation[] = [
  {
    name: 'end-sent-again',
    bug: 'EndTxn is sent again where a late copy of it could end the next transaction (F18).',
    file: 'kafka/producer/transaction-manager',
    text: 'resendsLost: identity.protocol === 2',
    replacement: 'resendsLost: true',
    caughtBy: [
      {
        file: TRANSACTIONS,
        title: 'are in doubt after one lost answer, and nothing is sent again',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'lost-end-taken-for-refusal',
    bug: 'An EndTxn without an answer counts as refused, and the transaction is aborted although it may be committed (I10).',
    file: 'kafka/producer/transaction-manager',
    text: 'instanceof CallFailure) || error.inDoubt)',
    replacement: 'instanceof CallFailure))',
    caughtBy: [
      {
        file: TRANSACTIONS,
        title: 'are in doubt after one lost answer, and nothing is sent again',
        reason: /got no answer|was lost|connection/i,
      },
    ],
  },
  {
    name: 'old-coordinator-believed',
    bug: 'A coordinator that was about to go is believed to have done nothing (I10).',
    file: 'kafka/producer/transaction-calls',
    text: 'afterDoubt ||= leavesOpen(code)',
    replacement: 'void leavesOpen',
    caughtBy: [
      {
        file: TRANSACTIONS,
        title: 'are in doubt when a coordinator that was about to go may have done it',
        reason: /INVALID_TXN_STATE/,
      },
    ],
  },
  {
    name: 'group-outlives-epoch',
    bug: 'After a new epoch the group counts as part of a transaction that it was never added to.',
    file: 'kafka/producer/transaction-manager',
    text: "this.#offsets.restart() this.#doubt = 'none'",
    replacement: "this.#doubt = 'none'",
    caughtBy: [{ file: TRANSACTIONS, title: 'take in the group anew after a new epoch', reason: /INVALID_TXN_STATE/ }],
  },
  {
    name: 'doubt-outlives-abort',
    bug: 'An abort between two transactions keeps an epoch that a late copy may still use (I9).',
    file: 'kafka/producer/transaction-manager',
    text: 'if (this.#mustRenew) await this.#renewOrThrow(deadline)',
    replacement: '',
    caughtBy: [
      {
        file: TRANSACTIONS,
        title: 'get a new epoch at an abort in between, too, when there is doubt about theirs',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'first-batches-together',
    bug: 'Batches follow the first one of an epoch before the broker has it, though it may take any for the first.',
    file: 'kafka/producer/sender',
    text: 'lane.confirmed || gate.provesFirstSequence ? maxInFlightPerPartition : 1',
    replacement: 'maxInFlightPerPartition',
    caughtBy: [
      { file: TRANSACTIONS, title: 'go out one by one until the broker has the first of an epoch', reason: /wait for/ },
    ],
  },
  {
    name: 'confirmed-in-old-epoch',
    bug: 'What the broker had of the epoch before counts as the first batch of the next one.',
    file: 'kafka/producer/partition-lane',
    text: 'this.#nextSequence = sequence this.confirmed = false',
    replacement: 'this.#nextSequence = sequence',
    caughtBy: [
      { file: TRANSACTIONS, title: 'go out one by one until the broker has the first of an epoch', reason: /wait for/ },
    ],
  },
  {
    name: 'six-in-flight',
    bug: 'More batches are on their way than a broker remembers, so that a repeated one is not known again.',
    file: 'kafka/producer/sender',
    text: 'lane.sent.length < inFlightMax ?',
    replacement: 'lane.sent.length <= inFlightMax ?',
    caughtBy: [{ file: TRANSACTIONS, title: 'go out five at a time at the most', reason: /AssertionError/ }],
  },
  {
    name: 'left-out-of-answer',
    bug: 'A batch that an answer leaves out is waited for until its deadline.',
    file: 'kafka/producer/sender',
    text: "this.#lost(request, new MillraceError('PROTOCOL_VIOLATION'",
    replacement: "void (request, new MillraceError('PROTOCOL_VIOLATION'",
    caughtBy: [
      { file: TRANSACTIONS, title: 'are sent again when an answer leaves them out', reason: /did not acknowledge/ },
    ],
  },
  {
    name: 'first-offset-judged',
    bug: 'Only the first partition of an answer to TxnOffsetCommit is looked at, and the rest is committed without its offset.',
    file: 'kafka/producer/transaction-offsets',
    text: 'const refused = answers.filter(',
    replacement: 'const refused = answers.slice(0, 1).filter(',
    caughtBy: [
      { file: OFFSETS, title: 'are refused when one of them is, whichever', reason: /the promise was fulfilled/ },
    ],
  },
  {
    name: 'missing-offset-taken',
    bug: 'A partition that the answer to TxnOffsetCommit leaves out counts as committed.',
    file: 'kafka/producer/transaction-offsets',
    text: 'answers.length !== asked',
    replacement: 'answers.length > asked',
    caughtBy: [
      {
        file: OFFSETS,
        title: 'are refused when the answer leaves one of them out',
        reason: /the promise was fulfilled/,
      },
    ],
  },
  {
    name: 'mildest-refusal-first',
    bug: 'Of several refused offsets the mildest decides, and one that was refused for good is tried again.',
    file: 'kafka/producer/transaction-offsets',
    text: 'isGeneration(a.code) - isGeneration(b.code)',
    replacement: 'isGeneration(b.code) - isGeneration(a.code)',
    caughtBy: [
      {
        file: OFFSETS,
        title: 'are not sent again with another generation when one of them is refused for good',
        reason: /the promise was fulfilled/,
      },
    ],
  },
  {
    name: 'first-request-of-offsets',
    bug: 'Of offsets that need several requests only the first is sent.',
    file: 'kafka/producer/transaction-offsets',
    text: "if (answer === 'illegalGeneration') return answer",
    replacement: 'return answer',
    caughtBy: [{ file: OFFSETS, title: 'go in as many requests as it takes', reason: /AssertionError/ }],
  },
  {
    name: 'instance-not-named',
    bug: 'Offsets do not name the instance, so that one that was replaced is not told (I5).',
    file: 'kafka/producer/transaction-offsets',
    text: 'groupInstanceId: member.groupInstanceId',
    replacement: 'groupInstanceId: null',
    caughtBy: [{ file: OFFSETS, title: 'go on behalf of generation, member and instance', reason: /AssertionError/ }],
  },
  {
    name: 'leader-epoch-not-committed',
    bug: 'Offsets are committed without a leader epoch, so that a restart does not notice a log that was cut off (KIP-320).',
    file: 'engine/commit-offsets',
    text: 'leaderEpoch: input.leaderEpoch()',
    replacement: 'leaderEpoch: -1',
    caughtBy: [
      { file: 'unit/engine/commit-cycle', title: 'names the leader epoch of what was read', reason: /AssertionError/ },
    ],
  },
  {
    name: 'unstable-is-none',
    bug: 'An offset in an open transaction is taken for none, and everything is read again.',
    file: 'kafka/group/group-offsets',
    text: "if (reactionTo(answer.errorCode, 'offsetCommit') === 'retry') return false",
    replacement:
      "if (reactionTo(answer.errorCode, 'offsetCommit') === 'retry') return found.set(topicPartition, undefined)",
    caughtBy: [
      { file: COMMITTED, title: 'are waited for while they are part of an open transaction', reason: /AssertionError/ },
    ],
  },
  {
    name: 'fetched-zero-is-none',
    bug: 'An offset 0 that the group holds is taken for none.',
    file: 'kafka/group/group-offsets',
    text: 'offset < 0 ?',
    replacement: 'offset <= 0 ?',
    caughtBy: [{ file: COMMITTED, title: 'are none only where the group says so; 0 is one', reason: /AssertionError/ }],
  },
  {
    name: 'refusal-is-none',
    bug: 'A group that refuses to tell its offsets is taken for one without any.',
    file: 'kafka/group/group-offsets',
    text: 'if (errorCode !== ERROR_CODE.NONE) throw this.#fetchRefused(errorCode)',
    replacement: 'void errorCode',
    caughtBy: [
      { file: COMMITTED, title: 'are a failure where the group refuses to tell', reason: /the promise was fulfilled/ },
    ],
  },
  {
    name: 'generation-of-another',
    bug: 'Offsets are committed on behalf of another membership than the one that processed them (I5).',
    file: 'engine/commit-cycle',
    text: '&& membership.memberId === refused.memberId',
    replacement: '',
    caughtBy: [
      {
        file: 'unit/engine/commit-cycle',
        title: 'gives up when the new generation belongs to another member id',
        reason: /the promise was fulfilled/,
      },
    ],
  },
]
