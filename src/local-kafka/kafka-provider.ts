import { reasonOf } from '../model/errors.ts'
import { dockerWorks, startDockerKafka } from './docker-kafka.ts'
import { LocalKafka } from './local-kafka.ts'
import type { LocalKafkaOptions } from './options.ts'

/** A Kafka to use, wherever it came from. */
export interface ProvidedKafka {
  readonly bootstrapServers: string
  /** `given` by KAFKA_BOOTSTRAP_SERVERS, in a container, or in JVMs of our own. */
  readonly source: 'given' | 'docker' | 'java'
  /** Number of brokers started here, 0 when it was given. */
  readonly nodes: number
  /** Ends what was started; leaves a given Kafka alone. */
  stop(): Promise<void>
}

/**
 * Finds a Kafka, or starts one: `KAFKA_BOOTSTRAP_SERVERS`, else a Docker daemon with docker-compose.yml, else Java.
 * A container is plain, so special wishes (nodes, version, security, features) go to Java at once.
 *
 * @throws LOCAL_KAFKA_UNAVAILABLE naming what to provide
 */
export async function provideKafka(
  options: LocalKafkaOptions = {},
  env: NodeJS.ProcessEnv = process.env,
): Promise<ProvidedKafka> {
  const onProgress = options.onProgress ?? (() => undefined)
  const given = env['KAFKA_BOOTSTRAP_SERVERS']
  if (given !== undefined && given !== '') {
    return { bootstrapServers: given, source: 'given', nodes: 0, stop: () => Promise.resolve() }
  }
  if (isPlain(options) && (await dockerWorks())) {
    try {
      const kafka = await startDockerKafka(onProgress, options.port)
      return { ...kafka, source: 'docker', nodes: 1 }
    } catch (error) {
      onProgress(`${reasonOf(error)}; trying Java`)
    }
  }
  const kafka = await LocalKafka.start(options)
  return {
    bootstrapServers: kafka.bootstrapServers,
    source: 'java',
    nodes: kafka.nodes.length,
    stop: () => kafka.stop(),
  }
}

function isPlain(options: LocalKafkaOptions): boolean {
  const { nodes, version, transactionVersion, security, properties, jvm } = options
  return (
    (nodes ?? 1) === 1 &&
    version === undefined &&
    transactionVersion === undefined &&
    (security ?? 'none') === 'none' &&
    properties === undefined &&
    jvm === undefined
  )
}
