import { OPTIMIZATIONS } from '../topology/optimization.ts'
import { BOOLEAN, integer, oneOf, oneOrSeveralOf, TEXT, type PropertyDefinition } from './property-definition.ts'

/** Properties of the `streams:` block that are honoured: Kafka Streams' own, and three of ours. Source: `StreamsConfig`, Kafka 4.4. */
export const STREAMS_PROPERTIES: readonly PropertyDefinition[] = [
  {
    name: 'application.id',
    type: TEXT,
    default: undefined,
    required: true,
    doc: 'Name of the consumer group, prefix of transactional ids and internal topics.',
  },
  {
    name: 'processing.guarantee',
    type: oneOf('exactly_once_v2', 'at_least_once', 'at_most_once'),
    default: 'exactly_once_v2',
    doc: 'The promise of the run.',
  },
  {
    name: 'commit.interval.ms',
    type: integer(1),
    default: '100 under exactly-once, else 30000',
    doc: 'Time between commits; under exactly-once readers see results about this late at most, while all input is read as it comes.',
  },
  {
    name: 'num.stream.threads',
    type: integer(1, 256),
    default: 1,
    doc: 'Worker threads, each with its own clients and tasks.',
  },
  {
    name: 'state.dir',
    type: TEXT,
    default: './state',
    doc: 'Directory of local state and of the process id; one per process.',
  },
  {
    name: 'statestore.cache.max.bytes',
    type: integer(0),
    default: 0,
    doc: 'Cache that holds back updates until commit, one per key; 0 emits every update.',
  },
  {
    name: 'num.standby.replicas',
    type: integer(0, 0),
    default: 0,
    doc: 'Copies of each store on other instances. Only 0 is supported yet.',
    instead:
      'there are no standby copies yet, leave it out: a task that moves restores its stores from their changelogs',
  },
  {
    name: 'max.task.idle.ms',
    type: integer(-1),
    default: 0,
    doc: 'How long a task with several inputs waits for one that has been read to its end before it goes on without it. It always waits for records known to be on the broker; with -1 not for those either.',
  },
  {
    name: 'dsl.store.format',
    type: oneOf('default', 'headers'),
    default: 'default',
    doc: "Format of stores; with `headers` the changelog of sessions carries record headers on removals, as the JVM's does.",
  },
  {
    name: 'topology.optimization',
    type: oneOrSeveralOf(['none', 'all'], OPTIMIZATIONS),
    default: 'none',
    doc: 'What is spared: the changelog of a table whose source topic can serve as one, all but one of the repartition topics behind a new key, the second store of a stream that is joined with itself.',
  },
  {
    name: 'ensure.explicit.internal.resource.naming',
    type: BOOLEAN,
    default: false,
    doc: 'Unnamed stores and repartition topics are an error, not a warning. YAML names all of them.',
  },
  {
    name: 'replication.factor',
    type: integer(-1, 32_767),
    default: -1,
    doc: "Replication of internal topics; -1 is the broker's default.",
  },
  {
    name: 'repartition.purge.interval.ms',
    type: integer(1),
    default: 30_000,
    doc: 'Time between deletions of committed records in repartition topics.',
  },
  {
    name: 'windowstore.changelog.additional.retention.ms',
    type: integer(0, Number.MAX_SAFE_INTEGER),
    default: 86_400_000,
    doc: 'Grace added to the retention of windowed changelogs.',
  },
  {
    name: 'startup.timeout.ms',
    type: integer(1),
    default: 60_000,
    doc: 'How long to wait for the cluster at start; then exit 69.',
    ours: true,
  },
  {
    name: 'shutdown.timeout.ms',
    type: integer(1),
    default: 30_000,
    doc: 'How long a clean stop may take.',
    ours: true,
  },
  {
    name: 'provenance.headers',
    type: BOOLEAN,
    default: false,
    doc: 'Diagnosis: every written record says where it comes from, in the header `__millrace.provenance`, and repartition topics are not purged, so that `millrace verify` can follow each record.',
    ours: true,
  },
  {
    name: 'blocked.input.warn.ms',
    type: integer(1),
    default: 30_000,
    doc: 'How long an open transaction of another producer may hold up an input before the log names it.',
    ours: true,
  },
  {
    name: 'topics.create',
    type: BOOLEAN,
    default: true,
    doc: 'Whether internal, output and dead-letter topics may be created.',
    ours: true,
  },
]
