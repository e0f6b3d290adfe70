import { readdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { packageRoot } from '../../src/local-kafka/package-root.ts'
import { runCommand } from '../../src/local-kafka/command.ts'
import { javaWithStreams } from '../../test/support/java-libraries.ts'
import { newFolder } from '../contender-process.ts'
import type { Places } from '../pipeline.ts'
import type { ContenderName, Scenario } from '../scenario.ts'
import type { Contender, Launch } from './contender.ts'

const SOURCES = 'bench/kafka-streams/src/main/java/millrace/bench'
const COMPILE_TIMEOUT_MS = 120_000
/** A usual limit of a container; by itself the JVM would let its heap grow to a quarter of the machine. */
const HEAP = '-Xmx1g'

interface Compiled {
  readonly java: string
  readonly classPath: string
}

let compiled: Promise<Compiled> | undefined

/** Compiles `bench/kafka-streams` against the jars that the tests use, once per process. */
function compile(): Promise<Compiled> {
  compiled ??= compileNow()
  return compiled
}

async function compileNow(): Promise<Compiled> {
  const { java, classPath } = await javaWithStreams()
  const sources = join(packageRoot(), SOURCES)
  const files = (await readdir(sources)).map(name => join(sources, name))
  const folder = await newFolder('classes')
  const compiler = ['--module', 'jdk.compiler/com.sun.tools.javac.Main', '-d', folder, '-cp', classPath]
  const { exitCode, output } = await runCommand(java, [...compiler, ...files], { timeoutMs: COMPILE_TIMEOUT_MS })
  if (exitCode !== 0) {
    throw new Error(`Kafka Streams' side cannot be compiled; a JDK is needed, or --contenders millrace,raw:\n${output}`)
  }
  return { java, classPath: [folder, classPath].join(delimiter) }
}

function launcher(mainClass: string, settings: { readonly tuned?: boolean; readonly rocksdb?: boolean }) {
  return async (scenario: Scenario, places: Places): Promise<Launch> => {
    const { java, classPath } = await compile()
    const words = {
      bootstrap: places.bootstrapServers,
      application: places.application,
      input: places.input,
      table: places.table,
      output: places.output,
      state: places.stateFolder,
      workload: scenario.workload,
      commit: scenario.commitIntervalMs,
      threads: scenario.threads,
      guarantee: scenario.guarantee,
      operators: scenario.operators,
      tuned: settings.tuned ?? false,
      rocksdb: settings.rocksdb ?? false,
    }
    const logging = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
    const named = Object.entries(words).map(([name, value]) => `${name}=${String(value)}`)
    return { command: java, args: [HEAP, logging, '-cp', classPath, mainClass, ...named] }
  }
}

const STREAMS = 'millrace.bench.StreamsContender'
const ALL = ['copy', 'json', 'count', 'windowed', 'join'] as const

function streamsAs(
  name: ContenderName,
  title: string,
  parts: Omit<Contender, 'name' | 'title' | 'progress'>,
): Contender {
  return { name, title, progress: 'group', ...parts }
}

/** Kafka Streams with its defaults, stores in memory. */
export const streams = streamsAs('streams', 'Kafka Streams', {
  settings: 'defaults, stores in memory, `statestore.cache.max.bytes=0`, `-Xmx1g`',
  workloads: ALL,
  launch: launcher(STREAMS, {}),
})

/** Kafka Streams as an expert sets it for throughput. */
export const streamsTuned = streamsAs('streams-tuned', 'Kafka Streams, tuned', {
  settings:
    'as above, and `compression.type=lz4`, `batch.size` 256 KiB, `buffer.memory` 64 MiB, `max.poll.records=10000`, ' +
    '`max.partition.fetch.bytes` 4 MiB, socket buffers 1 MiB, `buffered.records.per.partition=10000`, ' +
    '`statestore.cache.max.bytes` 64 MiB, `topology.optimization=all`',
  workloads: ALL,
  launch: launcher(STREAMS, { tuned: true }),
})

/** Kafka Streams with its default store. */
export const streamsRocksDb = streamsAs('streams-rocksdb', 'Kafka Streams, RocksDB', {
  settings: 'as Kafka Streams, with its default stores on disk',
  workloads: ['count', 'windowed', 'join'],
  launch: launcher(STREAMS, { rocksdb: true }),
})

/** The Java clients in a bare loop. */
export const jvm: Contender = {
  name: 'jvm',
  title: 'plain JVM loop',
  settings: 'Java consumer and transactional producer, defaults, one transaction per commit interval, `-Xmx1g`',
  workloads: ['copy', 'json'],
  progress: 'group',
  launch: launcher('millrace.bench.LoopContender', {}),
}
