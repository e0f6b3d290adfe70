import { delimiter } from 'node:path'
import { runCommand } from '../../src/local-kafka/command.ts'
import { fetchedJars } from '../../src/local-kafka/fetched-jars.ts'
import { provideTools } from '../../src/local-kafka/jars.ts'

const VERSION = '4.4.0'

/** Java with Kafka Streams and Kafka's command-line tools, beside the broker's own libraries. */
export interface JavaWithStreams {
  readonly java: string
  readonly classPath: string
}

let provided: Promise<JavaWithStreams> | undefined

/** Fetches jars through Maven, once per machine; all else they need comes with the broker. */
export function javaWithStreams(): Promise<JavaWithStreams> {
  provided ??= provide()
  return provided
}

async function provide(): Promise<JavaWithStreams> {
  const { java, jars, folder } = await provideTools(VERSION, () => undefined)
  const streams = await fetchedJars(
    folder,
    {
      what: `Kafka Streams ${VERSION}`,
      size: '60 MB',
      folder: 'streams',
      // Kafka Streams has versioned stores on disk only.
      artifacts: [`org.apache.kafka:kafka-streams:${VERSION}`, 'org.rocksdb:rocksdbjni:10.1.3'],
      alone: true,
    },
    () => undefined,
  )
  return { java: java.command, classPath: [...streams, ...jars].join(delimiter) }
}

/** Runs one of Kafka's command-line tools. */
export async function kafkaTool(
  mainClass: string,
  args: readonly string[],
): Promise<{ exitCode: number | null; output: string }> {
  const { java, classPath } = await javaWithStreams()
  const flags = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto']
  const logging = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'
  return await runCommand(java, [...flags, logging, '-cp', classPath, mainClass, ...args], { timeoutMs: 120_000 })
}
