import { randomBytes } from 'node:crypto'
import { LocalKafka } from '../../src/local-kafka/local-kafka.ts'
import type { LocalKafkaOptions } from '../../src/local-kafka/options.ts'
import { atRunEnd } from './run-end.ts'

/** Real brokers that tests share; each is started once per test process, when first asked for. */
const KINDS = {
  /** Kafka 4.4 with transaction.version 2. */
  tv2: { test: true },
  /** Kafka 4.4 with transaction.version 0. */
  tv0: { test: true, transactionVersion: 0 },
  '3.9.1': { test: true, version: '3.9.1' },
  /** TLS with SCRAM and PLAIN, ACLs (users: `LOCAL_USERS`). */
  secure: { test: true, security: 'sasl_ssl', acl: true },
  /** Three brokers, replication factor 3, two in sync. */
  three: { test: true, nodes: 3 },
} as const satisfies Record<string, LocalKafkaOptions>

/** Kind of a shared broker. */
export type BrokerKind = keyof typeof KINDS

/** The kinds on which every test of transactions runs. */
export const TRANSACTION_BROKERS: readonly BrokerKind[] = ['tv2', 'tv0', '3.9.1']

/** Long enough to fetch Kafka's jars and start three brokers on a loaded machine. */
const START_TIMEOUT_MS = 300_000

const started = new Map<BrokerKind, Promise<LocalKafka>>()

/** The shared broker of a kind. Tests that kill or pause nodes must leave them running as they found them. */
function sharedBroker(kind: BrokerKind): Promise<LocalKafka> {
  let broker = started.get(kind)
  if (broker === undefined) {
    broker = LocalKafka.start(KINDS[kind])
    started.set(kind, broker)
  }
  return broker
}

/**
 * Makes a shared broker available to the tests of the enclosing `describe`; call it there, and `kafka()` inside the
 * tests.
 */
export function useBroker(kind: BrokerKind): () => LocalKafka {
  let kafka: LocalKafka | undefined
  before(`starts Kafka (${kind})`, async function () {
    this.timeout(START_TIMEOUT_MS)
    kafka = await sharedBroker(kind)
  })
  return () => {
    if (kafka === undefined) throw new Error('useBroker: ask for the broker inside a test')
    return kafka
  }
}

/** A name for a topic, group or transactional id that no other test uses. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(5).toString('hex')}`
}

atRunEnd('stops the shared brokers', async () => {
  const brokers = await Promise.allSettled(started.values())
  started.clear()
  await Promise.all(brokers.map(broker => (broker.status === 'fulfilled' ? broker.value.stop() : Promise.resolve())))
})
