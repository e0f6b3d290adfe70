import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { cacheFolder, withLock } from '../../src/local-kafka/cache.ts'
import { runCommand } from '../../src/local-kafka/command.ts'
import { provideDistribution } from '../../src/local-kafka/jars.ts'

const VERSION = '4.4.0'
const DOWNLOAD_TIMEOUT_MS = 300_000

/** Java with Kafka Streams and Kafka's command-line tools, beside the broker's own libraries. */
export interface JavaWithStreams {
  readonly java: string
  readonly classPath: string
}

let provided: Promise<JavaWithStreams> | undefined

/** Fetches three jars through Maven, once per machine; all else they need comes with the broker. */
export function javaWithStreams(): Promise<JavaWithStreams> {
  provided ??= provide()
  return provided
}

async function provide(): Promise<JavaWithStreams> {
  const { java, jars } = await provideDistribution(VERSION, () => undefined)
  const folder = join(cacheFolder(), `kafka-${VERSION}`)
  const libs = join(folder, 'streams-and-rocksdb')
  if (!(await exists(libs))) {
    await withLock(join(folder, 'streams-and-rocksdb.lock'), DOWNLOAD_TIMEOUT_MS, async () => {
      if (!(await exists(libs))) await download(folder, libs)
    })
  }
  const names = (await readdir(libs)).filter(name => name.endsWith('.jar'))
  return { java: java.command, classPath: [...names.map(name => join(libs, name)), ...jars].join(delimiter) }
}

async function download(folder: string, libs: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const temporary = await mkdtemp(join(folder, 'download-'))
  try {
    await writeFile(join(temporary, 'pom.xml'), POM)
    const goal = [
      'dependency:copy-dependencies',
      '-DincludeScope=runtime',
      `-DoutputDirectory=${join(temporary, 'libs')}`,
    ]
    const { exitCode, output } = await runCommand('mvn', ['-q', '-B', '-ntp', ...goal], {
      timeoutMs: DOWNLOAD_TIMEOUT_MS,
      cwd: temporary,
    })
    if (exitCode !== 0) throw new Error(`Maven could not fetch Kafka Streams:\n${output.slice(-1_500)}`)
    await rename(join(temporary, 'libs'), libs)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

const POM = [
  '<project>',
  '<modelVersion>4.0.0</modelVersion>',
  '<groupId>millrace</groupId><artifactId>beside-streams</artifactId><version>1</version><packaging>pom</packaging>',
  '<dependencies>',
  ...[
    ['org.apache.kafka', 'kafka-streams', VERSION],
    ['org.apache.kafka', 'kafka-tools', VERSION],
    // Kafka Streams has versioned stores on disk only.
    ['org.rocksdb', 'rocksdbjni', '10.1.3'],
  ].map(
    ([group, artifact, version]) =>
      `<dependency><groupId>${String(group)}</groupId><artifactId>${String(artifact)}</artifactId>` +
      `<version>${String(version)}</version>` +
      '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>',
  ),
  '</dependencies>',
  '</project>',
].join('\n')

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
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
