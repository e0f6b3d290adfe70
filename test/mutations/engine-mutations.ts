import { EVERYTHING, finding, type Mutation } from './mutation.ts'

/** Bugs in commits, offsets and rebalances. */
export const ENGINE_MUTATIONS: readonly Mutation[] = [
  {
    name: 'commit-before-flush',
    bug: 'Offsets are committed before the outputs are acknowledged.',
    file: 'engine/commit-cycle',
    text: 'await producer.flush(parts.stepTimeoutMs())',
    replacement: 'void producer',
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
    name: 'read-uncommitted-input',
    bug: 'Input of open and aborted transactions is processed.',
    file: 'engine/thread-parts',
    text: "isolation: 'read_committed'",
    replacement: "isolation: 'read_uncommitted'",
    caughtBy: [{ ...EVERYTHING, reason: finding('dirtyInput', 'dirty read') }],
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
    name: 'purge-one-too-far',
    bug: 'Of a repartition topic one record is deleted that is still to be processed.',
    file: 'engine/repartition-purge',
    text: 'offsets.set(topicPartition, committed)',
    replacement: 'offsets.set(topicPartition, committed + 1)',
    caughtBy: [
      {
        file: 'unit/engine/thread-commits',
        title: 'purge repartition topics up to what is committed, now and then, and nothing else',
        reason: /AssertionError/,
      },
    ],
    cheap: true,
  },
  {
    name: 'held-back-not-written',
    bug: 'What caches and buffers hold back is not in the transaction whose offsets it belongs to.',
    file: 'engine/commit-cycle',
    text: 'await flushTasks(tasks, parts.resolveTopic)',
    replacement: 'queueMicrotask(() => void flushTasks(tasks, parts.resolveTopic))',
    caughtBy: [
      {
        file: 'unit/engine/commit-cycle',
        title: 'has what caches hold back written before it waits for acknowledgements',
        reason: /AssertionError/,
      },
    ],
    cheap: true,
  },
  {
    name: 'empty-key-without-hash',
    bug: 'An empty key is taken for none where the record is passed on as it lies in its batch.',
    file: 'engine/producer-collector',
    text: 'keyBytes < 0 ?',
    replacement: 'keyBytes <= 0 ?',
    caughtBy: [
      {
        file: 'unit/engine/producer-collector',
        title: 'puts a key to the partition of its hash, an empty one too',
        reason: /AssertionError/,
      },
    ],
    cheap: true,
  },
  {
    name: 'claims-not-checked',
    bug: 'Offsets of partitions are committed that the last join did not claim, so that another may own them.',
    file: 'engine/commit-cycle',
    text: 'claims.assertClaimed(offsets.keys())',
    replacement: '',
    caughtBy: [
      {
        file: 'unit/engine/commit-cycle',
        title: 'refuses to commit a partition that was not claimed in the last join (I5)',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'join-before-assignment',
    bug: 'A member joins again with what an assignment that has come just takes away: nobody gets it.',
    file: 'engine/rebalancer',
    text: 'const late = this.#options.member.nextEvent()',
    replacement: 'const late = [].shift()',
    caughtBy: [
      {
        file: 'unit/engine/rebalancer',
        title: 'takes what was assigned while it committed before it joins again',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'revoked-without-commit',
    bug: 'A task is closed without its offsets: its outputs stay in the transaction and are written again by the next owner.',
    file: 'engine/rebalancer',
    text: 'await (lostOwned ? this.#options.abort(lostClaim()) : this.#options.commit())',
    replacement: 'await (lostOwned ? this.#options.abort(lostClaim()) : Promise.resolve())',
    caughtBy: [
      {
        file: 'unit/engine/rebalancer',
        title: 'commits what is taken away, clos',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'one-partition-one-behind',
    bug: 'Of one partition the offset of the last record is committed, not the one behind it.',
    file: 'engine/commit-offsets',
    text: 'offset, leaderEpoch: input.leaderEpoch(),',
    replacement: 'offset: offset - Math.min(offset, input.topicPartition.partition), leaderEpoch: input.leaderEpoch(),',
    caughtBy: [{ ...EVERYTHING, reason: finding('(?:anomalies|tiling|monotony|quiescence)', '[\\w ]+') }],
  },
  {
    name: 'numbers-from-zero',
    bug: 'The numbers of transactions begin anew with every life, so that an old one may be taken for our own.',
    file: 'engine/stream-thread',
    text: 'new TransactionNumbers(Math.floor(options.random() * 2 ** 52))',
    replacement: 'new TransactionNumbers(0)',
    caughtBy: [{ ...EVERYTHING, reason: finding('atomicity', '(?:two producers|torn)') }],
  },
  {
    name: 'markers-owe-nothing',
    bug: 'A position that only markers have moved is not committed, so that the lag never gets to 0.',
    file: 'engine/active-task',
    text: 'return this.task.uncommitted ||',
    replacement: 'return this.task.uncommitted || this.task === undefined &&',
    caughtBy: [
      {
        file: 'unit/engine/commit-cycle',
        title: 'commits a position that only markers have moved',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'rewind-of-one-input',
    bug: 'After an abort only the first input of a task goes back.',
    file: 'engine/input-rewinder',
    text: 'of task.inputs)',
    replacement: 'of task.inputs.slice(0, 1))',
    caughtBy: [
      {
        file: 'unit/engine/input-rewinder',
        title: 'takes every input of a task back to its commit',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'purge-of-first-partition',
    bug: 'Records are deleted from another partition of the repartition topic than the one that is committed.',
    file: 'engine/repartition-purge',
    text: 'offsets.set(topicPartition, committed)',
    replacement: 'offsets.set({ topic: topicPartition.topic, partition: 0 }, committed)',
    caughtBy: [
      {
        file: 'unit/engine/thread-commits',
        title: 'purge repartition topics up to what is committed',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'committed-zero-is-none',
    bug: 'A committed offset of 0 is taken for none, and reading begins where the reset policy says.',
    file: 'engine/task-starter',
    text: 'else takeOver(task, input, found)',
    replacement: 'else if (found.offset === 0) resets.push(input); else takeOver(task, input, found)',
    caughtBy: [
      {
        file: 'unit/engine/task-starter',
        title: 'is no matter where the first offset of all is committed',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'stream-time-of-last-input',
    bug: 'After a restart the time of a task is that of its last input, so that late records count again.',
    file: 'engine/stream-task',
    text: 'this.#streamTimeMs = Math.max(this.#streamTimeMs, ms)',
    replacement: 'this.#streamTimeMs = ms',
    caughtBy: [
      {
        file: 'unit/engine/stream-task',
        title: 'goes on from the highest of the times that its inputs had come to',
        reason: /AssertionError/,
      },
    ],
    cheap: true,
  },
  {
    name: 'lag-unknown-to-wait',
    bug: 'A task does not wait for an input of which records are known to be on the broker.',
    file: 'engine/idle-wait',
    text: 'fetcher.lagOf(topicPartition)',
    replacement: '0',
    caughtBy: [
      {
        file: 'unit/engine/idle-wait',
        title: 'asks the fetcher what is known',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'abort-beside-a-commit',
    bug: 'A stop runs its abort beside a commit that goes on, which then commits offsets without outputs.',
    file: 'engine/thread-shutdown',
    text: 'if (goesOn) await clients.cluster.close()',
    replacement: 'void goesOn',
    caughtBy: [
      {
        file: 'unit/engine/thread-shutdown',
        title: 'closes the connections under a last commit that keeps to no time',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'same-size-again',
    bug: 'A transaction that ran out of time is built again as it was, for ever on a slow link.',
    file: 'engine/thread-commits',
    text: 'if (TOO_SLOW.has(cause.code)) this.#size.timedOut(this.#records)',
    replacement: 'void TOO_SLOW',
    caughtBy: [
      {
        file: 'unit/engine/thread-commits',
        title: 'happen after half as many records when a transaction ran out of time',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'global-table-half-read',
    bug: 'Tasks run before a global table has been read, and miss partners that are there.',
    file: 'engine/global-tables',
    text: 'endOffset: ends.get(partition) ?? 0',
    replacement: 'endOffset: 0',
    caughtBy: [
      {
        file: 'unit/engine/global-tables',
        title: 'are complete once every partition was read up to what it held at the start',
        reason: /AssertionError/,
      },
    ],
  },
  {
    name: 'global-table-early',
    bug: 'A global table that is read anew counts as complete at the old end of its topic.',
    file: 'engine/global-tables',
    text: 'global.endOffset = ends.get(global.partition) ?? 0',
    replacement: 'void ends',
    caughtBy: [
      {
        file: 'unit/engine/global-tables',
        title: 'are complete again only with all that their topic held when they were read anew',
        reason: /the log has grown/,
      },
    ],
  },
  {
    name: 'failure-taken-for-topic',
    bug: 'Any failure of a step is taken for a topic that is to be looked up.',
    file: 'engine/task-executor',
    text: 'if (!(thrown instanceof UnresolvedTopic)) throw thrown',
    replacement: 'if (!(thrown instanceof UnresolvedTopic)) return',
    caughtBy: [
      {
        file: 'unit/engine/task-executor',
        title: 'hides no failure but a topic that is to be looked up',
        reason: /AssertionError/,
      },
    ],
    cheap: true,
  },
  {
    name: 'turns-without-pause',
    bug: 'A thread with records that cannot be had turns without a pause before each commit.',
    file: 'engine/commit-schedule',
    text: 'if (!isIdle) return this.#lastMs + intervalMs',
    replacement: 'void isIdle',
    caughtBy: [
      {
        file: 'unit/engine/idle-time',
        title: 'goes on past the early commit while records are known that cannot be had',
        reason: /AssertionError/,
      },
    ],
  },
]
