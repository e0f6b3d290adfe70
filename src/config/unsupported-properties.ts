/** A property of Kafka's that is refused, because ignoring it would break what its writer wanted. */
export interface RefusedProperty {
  readonly name: string
  /** What to write instead, or why there is nothing. */
  readonly hint: string
}

/** A property of Kafka's that changes nothing here; accepted with a warning. */
export interface IgnoredProperty {
  readonly name: string
  readonly reason: string
}

const SERDE_HINT = 'there is no default serde to forget: write `key` and `value` at the source'
const JVM_CLASS = 'names a Java class'
const PEM_HINT = 'write `ssl.ca`, `ssl.cert` and `ssl.key` (PEM text or path)'
const HANDLER_HINT = 'write `errors: { deserialization, processing, production }`'
const CLIENT_HINT = 'belongs under `kafka:`'

/** Properties of the `streams:` block that are refused. */
export const REFUSED_STREAMS: readonly RefusedProperty[] = [
  { name: 'bootstrap.servers', hint: CLIENT_HINT },
  { name: 'security.protocol', hint: CLIENT_HINT },
  { name: 'client.id', hint: CLIENT_HINT },
  { name: 'request.timeout.ms', hint: CLIENT_HINT },
  { name: 'retry.backoff.ms', hint: CLIENT_HINT },
  { name: 'metadata.max.age.ms', hint: CLIENT_HINT },
  { name: 'default.key.serde', hint: SERDE_HINT },
  { name: 'default.value.serde', hint: SERDE_HINT },
  { name: 'default.list.key.serde.inner', hint: SERDE_HINT },
  { name: 'default.list.value.serde.inner', hint: SERDE_HINT },
  { name: 'default.list.key.serde.type', hint: SERDE_HINT },
  { name: 'default.list.value.serde.type', hint: SERDE_HINT },
  { name: 'windowed.inner.class.serde', hint: 'a windowed key takes its serde from the key before it' },
  { name: 'window.size.ms', hint: 'a windowed key takes its size from the step' },
  { name: 'default.deserialization.exception.handler', hint: HANDLER_HINT },
  { name: 'deserialization.exception.handler', hint: HANDLER_HINT },
  { name: 'default.production.exception.handler', hint: HANDLER_HINT },
  { name: 'production.exception.handler', hint: HANDLER_HINT },
  { name: 'processing.exception.handler', hint: HANDLER_HINT },
  { name: 'processing.exception.handler.global.enabled', hint: HANDLER_HINT },
  { name: 'errors.dead.letter.queue.topic.name', hint: 'write `errors: { deadLetterTopic }`' },
  { name: 'default.timestamp.extractor', hint: 'write `timestamp` at the source' },
  { name: 'cache.max.bytes.buffering', hint: 'Kafka Streams renamed it: `statestore.cache.max.bytes`' },
  { name: 'default.dsl.store', hint: 'write `stores: { default: memory }`' },
  { name: 'dsl.store.suppliers.class', hint: 'write `stores: { default: memory }`' },
  { name: 'rocksdb.config.setter', hint: 'there is no RocksDB here; write `store: { maxBytes }` to bound a store' },
  { name: 'processor.wrapper.class', hint: JVM_CLASS },
  { name: 'default.client.supplier', hint: JVM_CLASS },
  { name: 'task.assignor.class', hint: `${JVM_CLASS}; the assignor here is sticky and balanced` },
  { name: 'group.protocol', hint: 'the classic protocol is used; the one of KIP-1071 is not supported yet' },
  { name: 'config.providers', hint: 'write `${file:/path}` or `${VAR}` where the value belongs' },
  { name: 'upgrade.from', hint: 'a rolling change from Kafka Streams is not possible: stop it, then start here' },
]

/** Properties of the `streams:` block that are ignored. */
export const IGNORED_STREAMS: readonly IgnoredProperty[] = [
  {
    name: 'application.server',
    reason: 'an instance answers for the partitions it has, and does not know the addresses of others',
  },
  { name: 'acceptable.recovery.lag', reason: 'there are no standby tasks yet' },
  { name: 'max.warmup.replicas', reason: 'there are no standby tasks yet' },
  { name: 'probing.rebalance.interval.ms', reason: 'there are no standby tasks yet' },
  { name: 'rack.aware.assignment.non_overlap_cost', reason: 'assignment does not look at racks yet' },
  { name: 'rack.aware.assignment.strategy', reason: 'assignment does not look at racks yet' },
  { name: 'rack.aware.assignment.tags', reason: 'assignment does not look at racks yet' },
  { name: 'rack.aware.assignment.traffic_cost', reason: 'assignment does not look at racks yet' },
  { name: 'statestore.uncommitted.max.bytes', reason: 'a commit starts by itself before too much is uncommitted' },
  { name: 'enable.transactional.statestores', reason: 'stores are always transactional' },
  { name: 'default.interactive.query.isolation.level', reason: '`stores` reads committed state only' },
  { name: 'state.cleanup.delay.ms', reason: 'there is no state on disk yet' },
  { name: 'state.cleanup.dir.max.age.ms', reason: 'there is no state on disk yet' },
  { name: 'allow.os.group.write.access', reason: 'the state directory is open to its owner alone' },
  { name: 'buffered.records.per.partition', reason: 'buffers are bounded by bytes, not by records' },
  { name: 'poll.ms', reason: 'the loop is woken by data, it does not poll' },
  { name: 'task.timeout.ms', reason: 'a task that fails repeatedly stops after a number of attempts' },
  { name: 'built.in.metrics.version', reason: 'metrics are those of GET /metrics' },
  { name: 'metric.reporters', reason: 'metrics are those of GET /metrics' },
  { name: 'metrics.num.samples', reason: 'metrics are those of GET /metrics' },
  { name: 'metrics.recording.level', reason: 'metrics are those of GET /metrics' },
  { name: 'metrics.sample.window.ms', reason: 'metrics are those of GET /metrics' },
  { name: 'enable.metrics.push', reason: 'metrics are pulled, not pushed to the broker' },
  { name: 'topology.description.push.enabled', reason: 'the topology is shown by `millrace graph`' },
  { name: 'log.summary.interval.ms', reason: 'summaries are in GET /metrics' },
  { name: 'connections.max.idle.ms', reason: 'connections stay open; a lost one is opened again' },
  { name: 'receive.buffer.bytes', reason: 'the operating system sizes socket buffers' },
  { name: 'send.buffer.bytes', reason: 'the operating system sizes socket buffers' },
  { name: 'reconnect.backoff.ms', reason: '`retry.backoff.ms` paces reconnects too' },
  { name: 'reconnect.backoff.max.ms', reason: '`retry.backoff.ms` paces reconnects too' },
  { name: 'metadata.recovery.strategy', reason: 'the bootstrap servers are always asked again' },
  { name: 'metadata.recovery.rebootstrap.trigger.ms', reason: 'the bootstrap servers are always asked again' },
  { name: 'metadata.cluster.check.enable', reason: 'the cluster is looked at in every answer' },
]

const SASL_HINT = 'write `sasl.mechanism`, `sasl.username` and `sasl.password`'

/** Properties of the `kafka:` block that are refused; a name ending in `*` stands for all that begin so. */
export const REFUSED_CLIENT: readonly RefusedProperty[] = [
  { name: 'group.id', hint: 'the group is `application.id`' },
  { name: 'transactional.id', hint: 'it is made of `application.id`, the instance id and the thread' },
  { name: 'transaction.two.phase.commit.enable', hint: 'transactions end with their commit interval' },
  { name: 'key.serializer', hint: 'write `key` at the sink' },
  { name: 'value.serializer', hint: 'write `value` at the sink' },
  { name: 'key.deserializer', hint: 'write `key` at the source' },
  { name: 'value.deserializer', hint: 'write `value` at the source' },
  { name: 'partitioner.class', hint: 'write `partition` at the sink' },
  { name: 'partitioner.ignore.keys', hint: 'write `partition` at the sink' },
  { name: 'partition.assignment.strategy', hint: 'the assignor here is sticky and keeps joined inputs together' },
  { name: 'group.protocol', hint: 'the classic protocol is used' },
  { name: 'group.remote.assignor', hint: 'the classic protocol is used' },
  { name: 'interceptor.classes', hint: JVM_CLASS },
  { name: 'bootstrap.controllers', hint: 'write `bootstrap.servers`' },
  { name: 'config.providers', hint: 'write `${file:/path}` or `${VAR}` where the value belongs' },
  { name: 'share.acknowledgement.mode', hint: 'share groups know no transactions' },
  { name: 'share.acquire.mode', hint: 'share groups know no transactions' },
  { name: 'security.providers', hint: JVM_CLASS },
  { name: 'ssl.provider', hint: JVM_CLASS },
  { name: 'ssl.engine.factory.class', hint: JVM_CLASS },
  { name: 'ssl.secure.random.implementation', hint: JVM_CLASS },
  { name: 'ssl.keymanager.algorithm', hint: PEM_HINT },
  { name: 'ssl.trustmanager.algorithm', hint: PEM_HINT },
  { name: 'ssl.keystore.type', hint: PEM_HINT },
  { name: 'ssl.keystore.location', hint: PEM_HINT },
  { name: 'ssl.keystore.password', hint: PEM_HINT },
  { name: 'ssl.keystore.key', hint: 'write `ssl.key`' },
  { name: 'ssl.keystore.certificate.chain', hint: 'write `ssl.cert`' },
  { name: 'ssl.truststore.certificates', hint: 'write `ssl.ca`' },
  { name: 'ssl.truststore.type', hint: 'write `ssl.ca`' },
  { name: 'ssl.truststore.location', hint: 'write `ssl.ca`' },
  { name: 'ssl.truststore.password', hint: 'write `ssl.ca`: a PEM file needs no password' },
  { name: 'ssl.cipher.suites', hint: 'TLS 1.2 or later is used with the ciphers Node allows' },
  { name: 'sasl.jaas.config', hint: SASL_HINT },
  { name: 'sasl.client.callback.handler.class', hint: SASL_HINT },
  { name: 'sasl.login.callback.handler.class', hint: SASL_HINT },
  { name: 'sasl.login.class', hint: SASL_HINT },
  { name: 'sasl.kerberos.*', hint: 'Kerberos is not supported; use SCRAM or client certificates' },
  { name: 'sasl.oauthbearer.*', hint: 'OAUTHBEARER is not supported yet; use SCRAM or client certificates' },
]

/** Properties of the `kafka:` block that are ignored. */
export const IGNORED_CLIENT: readonly IgnoredProperty[] = [
  { name: 'client.dns.lookup', reason: 'every address of a name is tried' },
  { name: 'client.rack', reason: 'assignment and fetching do not look at racks yet' },
  { name: 'bootstrap.resolve.timeout.ms', reason: '`startup.timeout.ms` covers it' },
  { name: 'default.api.timeout.ms', reason: '`request.timeout.ms` covers it' },
  { name: 'socket.connection.setup.timeout.max.ms', reason: '`socket.connection.setup.timeout.ms` does not grow' },
  { name: 'retry.backoff.max.ms', reason: 'the pause between retries is bounded by the deadline of the call' },
  { name: 'reconnect.backoff.ms', reason: '`retry.backoff.ms` paces reconnects too' },
  { name: 'reconnect.backoff.max.ms', reason: '`retry.backoff.ms` paces reconnects too' },
  { name: 'connections.max.idle.ms', reason: 'connections stay open; a lost one is opened again' },
  { name: 'receive.buffer.bytes', reason: 'the operating system sizes socket buffers' },
  { name: 'send.buffer.bytes', reason: 'the operating system sizes socket buffers' },
  { name: 'auto.commit.interval.ms', reason: '`commit.interval.ms` is the interval' },
  { name: 'max.poll.records', reason: 'the number of records per turn adapts to how long they take' },
  { name: 'exclude.internal.topics', reason: 'topics are named, not matched' },
  { name: 'allow.auto.create.topics', reason: 'inputs are never created, internal topics always with their counts' },
  { name: 'check.crcs', reason: 'every batch is checked' },
  { name: 'retries', reason: '`delivery.timeout.ms` bounds retries' },
  { name: 'max.in.flight.requests.per.connection', reason: 'up to five per partition, in order' },
  { name: 'max.request.size', reason: "the topic's own `max.message.bytes` is read and kept" },
  { name: 'compression.gzip.level', reason: 'the default level is used' },
  { name: 'compression.lz4.level', reason: 'the default level is used' },
  { name: 'compression.zstd.level', reason: 'the default level is used' },
  { name: 'partitioner.adaptive.partitioning.enable', reason: 'records without key are spread evenly' },
  { name: 'partitioner.availability.timeout.ms', reason: 'records without key are spread evenly' },
  { name: 'partitioner.rack.aware', reason: 'records without key are spread evenly' },
  { name: 'metadata.max.idle.ms', reason: 'metadata of all topics in use are kept' },
  { name: 'metadata.recovery.strategy', reason: 'the bootstrap servers are always asked again' },
  { name: 'metadata.recovery.rebootstrap.trigger.ms', reason: 'the bootstrap servers are always asked again' },
  { name: 'metadata.cluster.check.enable', reason: 'the cluster is looked at in every answer' },
  { name: 'enable.metrics.push', reason: 'metrics are pulled, not pushed to the broker' },
  { name: 'metric.reporters', reason: 'metrics are those of GET /metrics' },
  { name: 'metrics.num.samples', reason: 'metrics are those of GET /metrics' },
  { name: 'metrics.recording.level', reason: 'metrics are those of GET /metrics' },
  { name: 'metrics.sample.window.ms', reason: 'metrics are those of GET /metrics' },
  { name: 'ssl.protocol', reason: 'TLS 1.2 or later, the best both sides know' },
  { name: 'ssl.enabled.protocols', reason: 'TLS 1.2 or later, the best both sides know' },
  { name: 'sasl.login.connect.timeout.ms', reason: 'logging in is part of opening a connection' },
  { name: 'sasl.login.read.timeout.ms', reason: 'logging in is part of opening a connection' },
  { name: 'sasl.login.refresh.buffer.seconds', reason: 'sessions are renewed before they expire' },
  { name: 'sasl.login.refresh.min.period.seconds', reason: 'sessions are renewed before they expire' },
  { name: 'sasl.login.refresh.window.factor', reason: 'sessions are renewed before they expire' },
  { name: 'sasl.login.refresh.window.jitter', reason: 'sessions are renewed before they expire' },
  { name: 'sasl.login.retry.backoff.max.ms', reason: '`retry.backoff.ms` paces it' },
  { name: 'sasl.login.retry.backoff.ms', reason: '`retry.backoff.ms` paces it' },
]
