import { LOCAL_USERS, type LocalUser, type ResolvedOptions } from './options.ts'

/** Where one node lives. */
export interface NodePlace {
  readonly id: number
  /** Port of the listener for clients. */
  readonly clientPort: number
  /** Port of the listener between brokers, where clients come in by TLS. */
  readonly internalPort: number
  readonly controllerPort: number
  readonly dataFolder: string
}

/** Files that a TLS listener needs. */
export interface TlsFiles {
  /** PEM with private key (PKCS#8) and certificate of the broker. */
  readonly keyStore: string
  /** PEM with the certificate of the authority. */
  readonly trustStore: string
}

/** The properties file of one node; the given `properties` come last and win. */
export function brokerProperties(
  options: ResolvedOptions,
  places: readonly NodePlace[],
  node: NodePlace,
  tls: TlsFiles | undefined,
): string {
  const properties = {
    ...quorumProperties(places, node),
    ...(tls === undefined ? plainListeners(node) : secureListeners(node, tls)),
    ...(options.acl ? ACL_PROPERTIES : {}),
    ...clusterProperties(places.length),
    ...(options.test ? TEST_PROPERTIES : {}),
    ...options.properties,
  }
  return `${Object.entries(properties)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`
}

function quorumProperties(places: readonly NodePlace[], node: NodePlace): Record<string, string> {
  return {
    'process.roles': 'broker,controller',
    'node.id': String(node.id),
    'controller.quorum.voters': places
      .map(({ id, controllerPort }) => `${String(id)}@127.0.0.1:${String(controllerPort)}`)
      .join(','),
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': node.dataFolder,
  }
}

function plainListeners({ clientPort, controllerPort }: NodePlace): Record<string, string> {
  return {
    listeners: `CLIENT://127.0.0.1:${String(clientPort)},CONTROLLER://127.0.0.1:${String(controllerPort)}`,
    'listener.security.protocol.map': 'CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'CLIENT',
  }
}

function secureListeners(node: NodePlace, tls: TlsFiles): Record<string, string> {
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;'
  const plainUsers = Object.values<LocalUser>(LOCAL_USERS).map(
    ({ username, password }) => `user_${username}="${password}"`,
  )
  return {
    listeners: [
      `CLIENT://127.0.0.1:${String(node.clientPort)}`,
      `INTERNAL://127.0.0.1:${String(node.internalPort)}`,
      `CONTROLLER://127.0.0.1:${String(node.controllerPort)}`,
    ].join(','),
    'listener.security.protocol.map': 'CLIENT:SASL_SSL,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'INTERNAL',
    'listener.name.client.sasl.enabled.mechanisms': 'SCRAM-SHA-256,SCRAM-SHA-512,PLAIN',
    'listener.name.client.scram-sha-256.sasl.jaas.config': scram,
    'listener.name.client.scram-sha-512.sasl.jaas.config': scram,
    'listener.name.client.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required ${plainUsers.join(' ')};`,
    'listener.name.client.ssl.keystore.type': 'PEM',
    'listener.name.client.ssl.keystore.location': tls.keyStore,
    'listener.name.client.ssl.truststore.type': 'PEM',
    'listener.name.client.ssl.truststore.location': tls.trustStore,
  }
}

/** ANONYMOUS is the brokers themselves, on their listener between brokers. */
const ACL_PROPERTIES: Readonly<Record<string, string>> = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': `User:ANONYMOUS;User:${LOCAL_USERS.admin.username}`,
  'allow.everyone.if.no.acl.found': 'false',
}

function clusterProperties(nodes: number): Record<string, string> {
  const replicas = nodes >= 3 ? '3' : '1'
  const inSync = nodes >= 3 ? '2' : '1'
  return {
    'default.replication.factor': replicas,
    'min.insync.replicas': inSync,
    'offsets.topic.replication.factor': replicas,
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': inSync,
    'transaction.state.log.num.partitions': '4',
    'share.coordinator.state.topic.replication.factor': replicas,
    'share.coordinator.state.topic.min.isr': inSync,
    'group.initial.rebalance.delay.ms': '0',
    'auto.create.topics.enable': 'false',
    // A topic lives as long as its cluster. With Kafka's week, records of old times are gone at the next look, which comes
    // 30 s after the start and every 5 minutes, before or after an application has read them.
    'log.retention.ms': '-1',
    'num.network.threads': '2',
    'num.io.threads': '4',
    'num.recovery.threads.per.data.dir': '1',
    'controller.quorum.election.timeout.ms': '300',
    'controller.quorum.fetch.timeout.ms': '600',
    'controller.quorum.election.backoff.max.ms': '200',
    'broker.heartbeat.interval.ms': '500',
    // A node that comes back after SIGKILL is let in once its old session has ended.
    'broker.session.timeout.ms': '3000',
  }
}

/** With Kafka's own values a dead member is noticed after six seconds, a dead transaction up to ten seconds late. */
const TEST_PROPERTIES: Readonly<Record<string, string>> = {
  'group.min.session.timeout.ms': '1000',
  'transaction.abort.timed.out.transaction.cleanup.interval.ms': '500',
}
