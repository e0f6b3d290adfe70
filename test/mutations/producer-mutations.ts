import type { Mutation } from './mutation.ts'

/** Bugs in the producer that its unit tests find: what is in a transaction, in which order, and what an abort leaves. */
export const PRODUCER_MUTATIONS: readonly Mutation[] = [
  {
    name: 'one-topic-added',
    bug: 'Of the partitions that wait only those of one topic are added to the transaction.',
    file: 'kafka/producer/partition-adder',
    text: '[...groupByTopic(lanes)].map(',
    replacement: '[...groupByTopic(lanes)].slice(0, 1).map(',
    caughtBy: [
      {
        file: 'unit/kafka/producer/producer-transactions',
        title: 'take in every topic that is written before its first batch',
        reason: /INVALID_TXN_STATE/,
      },
    ],
    cheap: true,
  },
  {
    name: 'added-once-for-all',
    bug: 'A partition that was in an earlier transaction is not added to this one.',
    file: 'kafka/producer/transaction-manager',
    text: 'lane.addedIn === this.#serial',
    replacement: 'lane.addedIn > 0',
    caughtBy: [
      {
        file: 'unit/kafka/producer/producer-transactions',
        title: 'take in every topic that is written before its first batch',
        reason: /INVALID_TXN_STATE/,
      },
    ],
  },
  {
    name: 'group-added-once',
    bug: 'The group is added to the first transaction only (transaction.version 0).',
    file: 'kafka/producer/transaction-offsets',
    text: 'this.#groups.clear()',
    replacement: 'void this',
    caughtBy: [
      {
        file: 'unit/kafka/producer/producer-transactions',
        title: 'take in the group anew each time',
        reason: /INVALID_TXN_STATE/,
      },
    ],
  },
  {
    name: 'refusal-believed-after-doubt',
    bug: 'A refused EndTxn is believed although the first attempt got no answer and may have committed (I10).',
    file: 'kafka/producer/transaction-manager',
    text: 'if (afterDoubt) return this.#outcomeUnknown()',
    replacement: 'void afterDoubt',
    caughtBy: [
      {
        file: 'unit/kafka/producer/producer-transactions',
        title: 'are in doubt when the same request is refused afterwards',
        reason: /INVALID_TXN_STATE/,
      },
    ],
    cheap: true,
  },
  {
    name: 'lost-answer-forgotten',
    bug: 'That an answer to Produce was lost is forgotten, so that a late copy opens the next transaction (I9).',
    file: 'kafka/producer/sender',
    text: 'listener.unsure()',
    replacement: 'void listener',
    caughtBy: [
      {
        file: 'unit/kafka/producer/producer-transactions',
        title: 'get a new epoch at an abort: a late copy would open the next one',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'closed-with-open-transaction',
    bug: 'A producer that is closed leaves its transaction open, which holds readers up.',
    file: 'kafka/producer/producer',
    text: "['open', 'aborting'].includes(this.#session.state)",
    replacement: 'false',
    caughtBy: [
      {
        file: 'unit/kafka/producer/producer-transactions',
        title: 'are aborted when the producer is closed',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'overtaken-at-new-leader',
    bug: 'A batch goes to a new leader while one before it is unanswered at the old one (I8).',
    file: 'kafka/producer/sender',
    text: 'if (lane.outstanding > 0 && lane.connection !== connection) return false',
    replacement: 'void connection',
    caughtBy: [
      {
        file: 'unit/kafka/producer/producer-transactions',
        title: 'are not sent to a new leader before the old one has answered',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'unnumbered-batch-sent-twice',
    bug: 'A batch without numbers is sent again when no answer came, so that it may be there twice (at_most_once).',
    file: 'kafka/producer/sender',
    text: 'if (idempotent) { this.#comeBack(lane, batch, cause.message)',
    replacement: 'if (true) { this.#comeBack(lane, batch, cause.message)',
    caughtBy: [
      {
        file: 'unit/kafka/producer/producer-transactions',
        title: 'are given up, never sent twice',
        reason: /did not acknowledge/,
      },
    ],
  },
  {
    name: 'abort-forgets-nothing',
    bug: 'What was not sent before an abort is sent after it.',
    file: 'kafka/producer/producer',
    text: 'this.#accumulator.discard()',
    replacement: 'void this',
    caughtBy: [
      {
        file: 'unit/kafka/producer/producer',
        title: 'sends nothing after an abort that was appended before it',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'gap-forgotten',
    bug: 'After an abort the next batch goes on behind sequences that the broker never got.',
    file: 'kafka/producer/sender',
    text: 'gap ||= lane.sent.length > 0',
    replacement: 'gap = lane.sent.length > 0',
    caughtBy: [
      {
        file: 'unit/kafka/producer/producer',
        title: 'takes a new epoch, although every request was answered',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'early-adding-dies-out',
    bug: 'Partitions are added early in the first transactions only.',
    file: 'kafka/producer/transaction-manager',
    text: 'this.#earlyAdding.restart(clock.nowMs())',
    replacement: 'void clock',
    caughtBy: [
      {
        file: 'unit/kafka/producer/producer-transactions',
        title: 'take in partitions as early in the tenth of them as in the first',
        reason: /the partition is added while its record waits/,
      },
    ],
  },
]
