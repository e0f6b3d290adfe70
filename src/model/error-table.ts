import type { ErrorDefinition } from './error-definition.ts'

const REJECTED = 'rejects the call; the application goes on'

/** Every error millrace reports, with its reaction, exit code, cause and cure. */
export const ERRORS = {
  CONFIG_INVALID: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'The configuration is not valid.',
    operator: 'Correct the places named and run `millrace validate`.',
  },
  CONFIG_UNKNOWN_PROPERTY: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'The configuration has a property that does not exist.',
    operator: 'Use the name suggested, or look it up in docs/configuration.md.',
  },
  CONFIG_CONFLICT: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'Two properties exclude each other.',
    operator: 'Change one of the properties named.',
  },
  SECRET_UNREADABLE: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'A secret that the configuration refers to cannot be read.',
    operator: 'Set the variable or make the file named readable.',
  },
  TOPOLOGY_INVALID: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'The graph of the application is not valid.',
    operator: 'Correct the steps named.',
  },
  NAME_TAKEN: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'A name is used twice.',
    operator: 'Give one of the two another name.',
  },
  NAME_UNKNOWN: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'A name refers to nothing.',
    operator: 'Use one of the names suggested.',
  },
  NAME_REQUIRED: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'A store or repartition topic has no name although `ensure.explicit.internal.resource.naming` is on.',
    operator: 'Name the step or its store.',
  },
  SERDE_MISSING: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'A step writes bytes and nobody has said how.',
    operator: 'Name the serde at the step, or at its source.',
  },
  SERDE_MISMATCH: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'Two sides that must agree write different bytes.',
    operator: 'Use one serde on both sides.',
  },
  NOT_COPARTITIONED: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'Topics that are joined have different partition counts.',
    operator: 'Create them with equal counts, or put a `repartition` step before the join.',
  },
  TABLE_NOT_MATERIALIZED: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'A table without a store is used where its store is needed.',
    operator: 'Name a store for the table.',
  },
  TABLE_NOT_VERSIONED: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'A join with grace needs a versioned table.',
    operator: 'Give the table a history retention (`versioned`).',
  },
  STORE_NOT_ALLOWED: {
    reaction: 'stop',
    exitCode: 78,
    cause:
      'Stores and tables cannot keep the promise of at_most_once: an update is never repeated, so a lost one stays lost.',
    operator: 'Use exactly_once_v2 or at_least_once, or remove the stateful steps.',
  },
  EXPRESSION_INVALID: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'An expression cannot be compiled.',
    operator: 'Correct the expression at the place shown.',
  },
  MODULE_NOT_LOADED: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'A module named in the configuration cannot be imported.',
    operator: 'Check the path and the exported name; TypeScript files need Node 22.18 or later.',
  },
  BROKER_UNREACHABLE: {
    reaction: 'stop',
    exitCode: 69,
    cause: 'No broker could be reached before the deadline.',
    operator: 'Check `bootstrap.servers`, the network, and if the listener wants TLS or SASL (`security.protocol`).',
  },
  BROKER_TOO_OLD: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'The broker lacks the requests that exactly-once needs; Kafka 2.5 or later has them.',
    operator: 'Upgrade the brokers.',
  },
  AUTHENTICATION_FAILED: {
    reaction: 'stop',
    exitCode: 77,
    cause: 'The broker refused the credentials.',
    operator: 'Check `sasl.mechanism`, `sasl.username` and `sasl.password`.',
  },
  NOT_AUTHORIZED: {
    reaction: 'stop',
    exitCode: 77,
    cause: 'The principal lacks a right on the resource named.',
    operator: 'Grant the right (docs/operations.md lists the minimal ACLs).',
  },
  TOPIC_MISSING: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'A topic does not exist.',
    operator: 'Create the topic (`millrace topics`), or correct its name.',
  },
  TOPIC_MISMATCH: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'A topic exists with another partition count or configuration than the application needs.',
    operator: 'Change the topic, or start over with `millrace reset`.',
  },
  TOPIC_RECREATED: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'A topic was deleted or recreated while it was being read.',
    operator: 'Decide from where to read the new topic (`millrace reset`); nothing is skipped silently.',
  },
  INSTANCE_ID_IN_USE: {
    reaction: 'stop',
    exitCode: 78,
    cause: "Another live process joined with the same group.instance.id and took this one's place.",
    operator: 'Give each replica its own `group.instance.id`, or its own state directory.',
  },
  OFFSET_OUT_OF_RANGE: {
    reaction: 'stop',
    exitCode: 65,
    cause: 'The committed offset is no longer in the topic: records were deleted before they were processed.',
    operator: 'Set `onOutOfRange` of the source, or move the group with `millrace reset`.',
  },
  COMMITTED_OFFSET_MISSING: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'A changelog holds committed state, but the group has no committed offset for the task.',
    operator: 'The group was deleted or its offsets expired: restore the offsets, or start over with `millrace reset`.',
  },
  REQUEST_TIMED_OUT: {
    reaction: 'refence',
    exitCode: 75,
    cause: 'A broker did not answer within the deadline.',
    operator: 'Look at the broker named; millrace goes on by itself once it answers.',
  },
  CONNECTION_LOST: {
    reaction: 'retry',
    exitCode: 75,
    cause: 'A connection to a broker was lost.',
    operator: 'Nothing to do: it is opened again. If it repeats, look at the broker and the network.',
  },
  PROTOCOL_VIOLATION: {
    reaction: 'stop',
    exitCode: 70,
    cause: "A broker sent something that Kafka's protocol does not allow.",
    operator: "Report it with the broker's version.",
  },
  KAFKA_ERROR: {
    reaction: 'refence',
    exitCode: 75,
    cause: 'A broker answered with an error.',
    operator: 'The code and its name tell more; millrace aborts and goes on.',
  },
  PRODUCER_FENCED: {
    reaction: 'rejoin',
    exitCode: 75,
    cause: 'Another process uses the same transactional id.',
    operator:
      'Nothing to do after a restart or rebalance. If it repeats, two replicas share a state directory or an instance id.',
  },
  MEMBERSHIP_LOST: {
    reaction: 'rejoin',
    exitCode: 75,
    cause: 'The group gave this member up.',
    operator: 'Nothing to do: it rejoins. If it repeats, steps exceed `max.poll.interval.ms` or the machine stalls.',
  },
  TRANSACTION_ABORTED: {
    reaction: 'abort',
    exitCode: 75,
    cause: 'The transaction cannot be committed.',
    operator: 'Nothing to do: its input is processed again.',
  },
  TRANSACTION_TIMED_OUT: {
    reaction: 'refence',
    exitCode: 75,
    cause:
      'The broker aborted the transaction because it was open for longer than `transaction.timeout.ms`, or has forgotten a transactional id that was idle for `transactional.id.expiration.ms` (7 days).',
    operator:
      'Nothing to do: its input is processed again. If it repeats, steps are too slow or brokers stall; raise `transaction.timeout.ms`.',
  },
  COMMIT_OUTCOME_UNKNOWN: {
    reaction: 'refence',
    exitCode: 75,
    cause: 'EndTxn was sent and its answer did not arrive before the deadline.',
    operator: 'Nothing to do: the outcome is read back from the group. If it repeats, look at the coordinator.',
  },
  MAX_POLL_INTERVAL_EXCEEDED: {
    reaction: 'rejoin',
    exitCode: 75,
    cause: 'Processing did not come back within `max.poll.interval.ms`, so the member left the group.',
    operator: 'Make steps faster, or raise `max.poll.interval.ms`.',
  },
  DESERIALIZATION_FAILED: {
    reaction: 'stop',
    exitCode: 65,
    cause: "A record's bytes are not what its serde reads.",
    operator: 'Correct the serde, or choose a policy (`errors.deserialization: skip | deadLetter`).',
  },
  UNEXPECTED_NULL: {
    reaction: 'stop',
    exitCode: 65,
    cause: 'A record has a null where its serde admits none.',
    operator:
      'Let nulls through: `value: json?` in YAML, `nullable(json())` in TypeScript; or choose a policy (`errors.deserialization`).',
  },
  PROCESSING_FAILED: {
    reaction: 'stop',
    exitCode: 65,
    cause: 'A step failed on a record.',
    operator: 'Correct the step, or choose a policy (`errors.processing: skip | deadLetter`).',
  },
  STEP_RETURNED_PROMISE: {
    reaction: 'stop',
    exitCode: 65,
    cause: 'A step returned a promise; steps are synchronous, because each record is one savepoint.',
    operator: 'Make the step synchronous; look things up through a table.',
  },
  SERIALIZATION_FAILED: {
    reaction: 'stop',
    exitCode: 65,
    cause: 'A value cannot be written by its serde.',
    operator: 'Correct the step or the serde, or choose a policy (`errors.production: skip | deadLetter`).',
  },
  RECORD_TOO_LARGE: {
    reaction: 'stop',
    exitCode: 65,
    cause: 'A record does not fit into its topic (`max.message.bytes`).',
    operator: "Raise the topic's limit, or choose a policy (`errors.production: skip | deadLetter`).",
  },
  RECORD_REFUSED: {
    reaction: 'stop',
    exitCode: 65,
    cause: 'The broker refused a record.',
    operator: "Look at the topic's configuration, or choose a policy (`errors.production`).",
  },
  TIMESTAMP_INVALID: {
    reaction: 'stop',
    exitCode: 65,
    cause: "A record's timestamp is negative or missing.",
    operator: 'Correct the timestamp expression, or choose `onInvalid: skip | partitionTime`.',
  },
  PARTITION_OUT_OF_RANGE: {
    reaction: 'stop',
    exitCode: 65,
    cause: 'A partitioner chose a partition that the topic does not have.',
    operator: 'Correct the partitioner.',
  },
  CHILD_UNKNOWN: {
    reaction: 'stop',
    exitCode: 65,
    cause: 'A processor forwarded to a child that does not exist.',
    operator: 'Correct the name.',
  },
  STORE_CORRUPT: {
    reaction: 'stop',
    exitCode: 70,
    cause: 'A state store cannot be read.',
    operator: 'Nothing to do: it is rebuilt from its changelog.',
  },
  STORE_LOCKED: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'Another process uses the state directory.',
    operator: 'Give each replica its own `state.dir`.',
  },
  STORE_FULL: {
    reaction: 'stop',
    exitCode: 70,
    cause: 'A store reached its bound (`maxBytes`).',
    operator: 'Raise the bound, or spread the load over more instances.',
  },
  STORE_CLOSED: {
    reaction: 'stop',
    exitCode: 70,
    cause: 'A store was used after its task was closed.',
    operator: "Do not keep stores beyond the processor's life.",
  },
  STATE_NOT_READY: {
    reaction: 'retry',
    exitCode: 75,
    effect: REJECTED,
    cause: 'A store cannot be read at this moment: its task is being restored, or handed from one thread to another.',
    operator: 'Read again a little later; `tasks()` and `onRestore` tell how far a restore is.',
  },
  STATE_ELSEWHERE: {
    reaction: 'stop',
    exitCode: 75,
    effect: REJECTED,
    cause: 'The partition of the key belongs to another instance of the application.',
    operator: 'Ask the other instances; an instance reads the partitions that are assigned to it.',
  },
  SUPPRESS_BUFFER_FULL: {
    reaction: 'stop',
    exitCode: 65,
    cause: 'A suppress buffer reached its bound and may not emit early.',
    operator: 'Raise `maxRecords` or `maxBytes`.',
  },
  STATE_VERSION_UNKNOWN: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'The state was written by a later version of millrace.',
    operator: 'Run that version, or remove the state directory: it is rebuilt from the changelogs.',
  },
  NOT_RUNNING: {
    reaction: 'stop',
    exitCode: 70,
    effect: REJECTED,
    cause: 'The instance is not running.',
    operator: 'Wait for the state `running`.',
  },
  START_TIMED_OUT: {
    reaction: 'stop',
    exitCode: 69,
    cause: 'The application did not start within `startup.timeout.ms`.',
    operator: 'Look at the line before for what it waited for.',
  },
  SHUTDOWN_TIMED_OUT: {
    reaction: 'stop',
    exitCode: 75,
    cause:
      'The application did not stop within `shutdown.timeout.ms`, because something in it never returned; its transaction was left to the broker to abort.',
    operator:
      'Nothing is lost: the next start goes on from the last commit. Raise `shutdown.timeout.ms` if it repeats.',
  },
  SHUTDOWN_REQUESTED: {
    reaction: 'stop',
    exitCode: 75,
    cause: 'Another instance asked the whole application to stop: its error handler chose `shutdownApplication`.',
    operator: 'Look for the error in the log of the instance that failed first; start again once its cause is gone.',
  },
  TASK_FAILED_REPEATEDLY: {
    reaction: 'stop',
    exitCode: 70,
    cause: 'A task failed the same way several times in a row.',
    operator: 'The cause names the failure; correct it and start again: the committed offset stayed.',
  },
  LOCAL_KAFKA_UNAVAILABLE: {
    reaction: 'stop',
    exitCode: 69,
    cause: 'There is no Kafka to use, and none can be started here.',
    operator: 'Set KAFKA_BOOTSTRAP_SERVERS, or start a Docker daemon, or install Java 17 and Maven.',
  },
  USAGE: {
    reaction: 'stop',
    exitCode: 78,
    cause: 'The library was used in a way it does not allow.',
    operator: 'See the documentation of the call named.',
  },
  INTERNAL: {
    reaction: 'stop',
    exitCode: 70,
    cause: 'A fault of millrace itself.',
    operator: 'Report it with the log; nothing was lost: the committed offset stayed.',
  },
} as const satisfies Record<string, ErrorDefinition>

/** Every error code, a closed union; `docs/errors.md` explains each with its cure. */
export type MillraceErrorCode = keyof typeof ERRORS
