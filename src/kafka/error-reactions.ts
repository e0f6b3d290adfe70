import { assert } from '../model/assert.ts'

/** What kind of call a broker answered with an error. */
export type CallKind =
  | 'produce'
  /** InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, and finding the transaction coordinator. */
  | 'transaction'
  /** TxnOffsetCommit, OffsetCommit, OffsetFetch. */
  | 'offsetCommit'
  /** JoinGroup, SyncGroup, Heartbeat, LeaveGroup, and finding the group coordinator. */
  | 'group'
  /** Metadata, ListOffsets, and what an administrator asks. */
  | 'metadata'
  | 'fetch'

/** What to do about an error code. */
export type KafkaReaction =
  /** Again inside the same call until its deadline, with back-off; look up leader or coordinator anew. */
  | 'retry'
  /** Abort the transaction, rewind, reprocess. */
  | 'abort'
  /** As `abort`, with a new epoch from InitProducerId first. */
  | 'refence'
  /** InitProducerId(own id, own epoch) tells whether we are fenced or the transaction only timed out. */
  | 'askFirst'
  /** A newer process has our instance id: discard everything, stop, never rejoin. */
  | 'replaced'
  /** A rebalance: the same call with the new generation if our own join explains it, else the membership is lost. */
  | 'newGeneration'
  /** Abort, drop tasks, rejoin with nothing owned. */
  | 'membershipLost'
  /** No retry can help: stop and say why. */
  | 'stop'
  /** A matter of one record: its policy decides. */
  | 'record'

/**
 * The reaction to an error code, by what was asked. 46 DUPLICATE_SEQUENCE_NUMBER of a resent batch is success and is
 * answered by the producer before it asks here; a deadline that passes while retrying counts as `refence`.
 */
export function reactionTo(code: number, call: CallKind): KafkaReaction {
  assert(code !== 0, 'a reaction is asked for an error')
  return BY_CALL[call][code] ?? EVERYWHERE[code] ?? OTHERWISE[call]
}

type Reactions = Readonly<Record<number, KafkaReaction>>

/** What a code means whatever was asked. Names: `error-codes.ts`. */
const EVERYWHERE: Reactions = {
  // Leaders, replicas, coordinators and the network come back; looking them up anew is part of the retry.
  3: 'retry',
  5: 'retry',
  6: 'retry',
  8: 'retry',
  9: 'retry',
  13: 'retry',
  14: 'retry',
  15: 'retry',
  16: 'retry',
  19: 'retry',
  20: 'retry',
  41: 'retry',
  56: 'retry',
  72: 'retry',
  74: 'retry',
  75: 'retry',
  78: 'retry',
  // The broker may or may not have done it: the same request again finds out.
  7: 'retry',
  // The previous transaction's markers are still being written.
  51: 'retry',
  88: 'retry',
  89: 'retry',
  129: 'retry',
  82: 'replaced',
  25: 'membershipLost',
  110: 'membershipLost',
  113: 'membershipLost',
  // Rights, credentials, versions and configuration stay as they are however often we ask.
  29: 'stop',
  30: 'stop',
  31: 'stop',
  53: 'stop',
  33: 'stop',
  34: 'stop',
  54: 'stop',
  58: 'stop',
  35: 'stop',
  50: 'stop',
  17: 'stop',
  24: 'stop',
  76: 'stop',
  // The topic was deleted or created anew: whatever we hold of it belongs to another one.
  100: 'stop',
  103: 'stop',
}

/**
 * A transactional call answered with an old epoch may only mean that the transaction timed out, and an unknown id that
 * the broker has forgotten it after `transactional.id.expiration.ms`: InitProducerId then gives another one (KIP-360).
 */
const TRANSACTIONAL: Reactions = { 47: 'askFirst', 48: 'askFirst', 49: 'askFirst', 90: 'askFirst' }

const BY_CALL: Readonly<Record<CallKind, Reactions>> = {
  produce: {
    ...TRANSACTIONAL,
    2: 'retry',
    10: 'record',
    18: 'record',
    32: 'record',
    87: 'record',
  },
  transaction: TRANSACTIONAL,
  offsetCommit: {
    ...TRANSACTIONAL,
    22: 'newGeneration',
    27: 'newGeneration',
    69: 'membershipLost',
  },
  group: {
    22: 'membershipLost',
    27: 'newGeneration',
    69: 'membershipLost',
    // The answer carries the id to join with.
    79: 'retry',
    23: 'stop',
    26: 'stop',
    81: 'stop',
    111: 'stop',
    112: 'stop',
  },
  metadata: {
    36: 'stop',
    37: 'stop',
    38: 'stop',
    39: 'stop',
    40: 'stop',
    44: 'stop',
  },
  fetch: {
    // Deleted before it was read: data loss upstream, the source's policy decides, never a silent reset.
    1: 'stop',
    2: 'stop',
    // A fetch session is only a shorthand; the next full fetch opens another.
    70: 'retry',
    71: 'retry',
    106: 'retry',
  },
}

/** An unknown code never kills the process: the work since the last commit is done again. */
const OTHERWISE: Readonly<Record<CallKind, KafkaReaction>> = {
  produce: 'refence',
  transaction: 'refence',
  offsetCommit: 'refence',
  group: 'membershipLost',
  metadata: 'retry',
  fetch: 'retry',
}
