import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder, isCode, withLock } from './cache.ts'
import { commandWorks, runCommand } from './command.ts'
import { findJava, type Java } from './java.ts'
import type { KafkaVersion } from './options.ts'
import { unavailable } from './unavailable.ts'

/** Kafka's jars and the Java to run them. */
export interface KafkaDistribution {
  readonly version: KafkaVersion
  readonly java: Java
  /** Absolute paths, sorted: the class path, and part of what a class archive is made for. */
  readonly jars: readonly string[]
  /** Cache folder of this version, for formatted storage and class archives. */
  readonly folder: string
}

/** Written last, so that a folder without it is a download that was cut off. */
const MARKER = '.complete'
const DOWNLOAD_TIMEOUT_MS = 600_000

/**
 * Finds Kafka's jars, or fetches them once through Maven: the folder named by `KAFKA_LIBS`, else the cache.
 *
 * @throws LOCAL_KAFKA_UNAVAILABLE without Java, or without a way to the jars
 */
export async function provideDistribution(
  version: KafkaVersion,
  onProgress: (line: string) => void,
): Promise<KafkaDistribution> {
  const folder = join(cacheFolder(), `kafka-${version}`)
  const java = (await findJava()) ?? (await installJava(onProgress))
  const given = process.env['KAFKA_LIBS']
  const jar = `kafka_2.13-${version}.jar`
  if (given !== undefined && given !== '') {
    const jars = await jarsOf(given)
    if (jars.some(path => path.endsWith(jar))) return { version, java, jars, folder }
    onProgress(`KAFKA_LIBS has no ${jar}; looking in the cache`)
  }
  return { version, java, jars: await fetchedJars(folder, BROKER, version, onProgress), folder }
}

/**
 * As `provideDistribution`, with Kafka's own command-line tools.
 *
 * @throws LOCAL_KAFKA_UNAVAILABLE without Java, or without a way to the jars
 */
export async function provideTools(
  version: KafkaVersion,
  onProgress: (line: string) => void,
): Promise<KafkaDistribution> {
  const distribution = await provideDistribution(version, onProgress)
  const { jars, folder } = distribution
  // The `libs` of Kafka's download have them.
  if (jars.some(path => path.endsWith(`kafka-tools-${version}.jar`))) return distribution
  return { ...distribution, jars: [...jars, ...(await fetchedJars(folder, TOOLS, version, onProgress))] }
}

/** Something to fetch once. */
interface Fetched {
  readonly title: string
  /** Folder in the cache folder of the version. */
  readonly folder: string
  readonly dependencies: (version: KafkaVersion) => readonly string[]
  /** What of the dependencies' dependencies is needed too. */
  readonly scope: readonly string[]
}

const BROKER: Fetched = {
  title: 'about 45 MB',
  folder: 'libs',
  dependencies: version => [
    dependency('org.apache.kafka', 'kafka_2.13', version),
    dependency('org.slf4j', 'slf4j-simple', '1.7.36'),
  ],
  scope: ['-DincludeScope=runtime'],
}

/** What the tools need beside it, a broker needs too. */
const TOOLS: Fetched = {
  title: 'its command-line tools, 1 MB',
  folder: 'tools',
  dependencies: version => [dependency('org.apache.kafka', 'kafka-tools', version)],
  scope: ['-DexcludeTransitive=true'],
}

async function fetchedJars(
  folder: string,
  what: Fetched,
  version: KafkaVersion,
  onProgress: (line: string) => void,
): Promise<readonly string[]> {
  const libs = join(folder, what.folder)
  if (!(await isComplete(libs))) {
    await withLock(join(folder, 'download.lock'), DOWNLOAD_TIMEOUT_MS, async () => {
      if (!(await isComplete(libs))) await download(version, folder, what, onProgress)
    })
  }
  return jarsOf(libs)
}

async function isComplete(libs: string): Promise<boolean> {
  return stat(join(libs, MARKER)).then(
    () => true,
    () => false,
  )
}

async function jarsOf(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw unavailable(`The folder of Kafka's jars cannot be read: ${folder}`, cause)
  })
  return names
    .filter(name => name.endsWith('.jar'))
    .toSorted()
    .map(name => join(folder, name))
}

async function download(
  version: KafkaVersion,
  folder: string,
  what: Fetched,
  onProgress: (line: string) => void,
): Promise<void> {
  const libs = join(folder, what.folder)
  if (!(await commandWorks('mvn', ['--version'], 30_000))) await installPackages(['maven'], onProgress)
  await mkdir(folder, { recursive: true })
  const temporary = await mkdtemp(join(folder, 'download-'))
  try {
    onProgress(`Fetching Kafka ${version} through Maven (${what.title}, once)`)
    const startedMs = Date.now()
    const ticker = setInterval(() => {
      onProgress(`Still fetching Kafka ${version} (${String(Math.round((Date.now() - startedMs) / 1000))} s)`)
    }, 5_000)
    await writeFile(join(temporary, 'pom.xml'), pom(what.dependencies(version)))
    const { exitCode, output } = await runCommand(
      'mvn',
      [
        '-q',
        '-B',
        '-ntp',
        'dependency:copy-dependencies',
        ...what.scope,
        `-DoutputDirectory=${join(temporary, 'libs')}`,
      ],
      { timeoutMs: DOWNLOAD_TIMEOUT_MS, cwd: temporary },
    )
    clearInterval(ticker)
    if (exitCode !== 0) throw unavailable(`Maven could not fetch Kafka ${version}:\n${output.slice(-1_500)}`)
    await writeFile(join(temporary, 'libs', MARKER), '')
    await rm(libs, { recursive: true, force: true })
    await rename(join(temporary, 'libs'), libs).catch((error: unknown) => {
      if (!isCode(error, 'ENOTEMPTY') && !isCode(error, 'EEXIST')) throw error
    })
    onProgress(`Kafka ${version} is in ${libs}`)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** A Maven project whose only purpose is to name what is to be fetched. */
function pom(dependencies: readonly string[]): string {
  return [
    '<project>',
    '<modelVersion>4.0.0</modelVersion>',
    '<groupId>millrace</groupId><artifactId>local-kafka</artifactId><version>1</version><packaging>pom</packaging>',
    '<dependencies>',
    ...dependencies,
    '</dependencies>',
    '</project>',
  ].join('\n')
}

async function installJava(onProgress: (line: string) => void): Promise<Java> {
  await installPackages(['openjdk-17-jre-headless', 'maven'], onProgress).catch(() =>
    installPackages(['default-jre-headless', 'maven'], onProgress),
  )
  const java = await findJava()
  if (java === undefined) throw unavailable(NO_WAY)
  return java
}

const NO_WAY =
  'There is no Kafka here: KAFKA_BOOTSTRAP_SERVERS is not set, no Docker daemon answers, and Java 17 with Maven is not installed.'

/** On Debian as root, such as in CI, the missing packages can be had; elsewhere the user is asked for them. */
async function installPackages(packages: readonly string[], onProgress: (line: string) => void): Promise<void> {
  if (process.getuid?.() !== 0 || !(await commandWorks('apt-get', ['--version']))) throw unavailable(NO_WAY)
  onProgress(`Installing ${packages.join(' and ')} (apt-get)`)
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  await runCommand('apt-get', ['update', '-qq'], { timeoutMs: 300_000, env })
  const { exitCode, output } = await runCommand(
    'apt-get',
    ['install', '-y', '-qq', '--no-install-recommends', ...packages],
    { timeoutMs: 600_000, env },
  )
  if (exitCode !== 0) throw unavailable(`${NO_WAY} Installing them failed:\n${output.slice(-1_000)}`)
}

function dependency(group: string, artifact: string, version: string): string {
  return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`
}
