import { join } from 'node:path'
import { cacheFolder } from './cache.ts'
import { fetchedJars, jarsIn, type FetchedJars } from './fetched-jars.ts'
import { findJava, type Java } from './java.ts'
import type { KafkaVersion } from './options.ts'
import { installPackages, NO_WAY } from './packages.ts'
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
    const jars = await jarsIn(given)
    if (jars.some(path => path.endsWith(jar))) return { version, java, jars, folder }
    onProgress(`KAFKA_LIBS has no ${jar}; looking in the cache`)
  }
  return { version, java, jars: await fetchedJars(folder, broker(version), onProgress), folder }
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
  return { ...distribution, jars: [...jars, ...(await fetchedJars(folder, tools(version), onProgress))] }
}

function broker(version: KafkaVersion): FetchedJars {
  return {
    what: `Kafka ${version}`,
    size: 'about 45 MB',
    folder: 'libs',
    artifacts: [`org.apache.kafka:kafka_2.13:${version}`, 'org.slf4j:slf4j-simple:1.7.36'],
    alone: false,
  }
}

/** What the tools need beside it, a broker needs too. */
function tools(version: KafkaVersion): FetchedJars {
  return {
    what: `the command-line tools of Kafka ${version}`,
    size: '1 MB',
    folder: 'tools',
    artifacts: [`org.apache.kafka:kafka-tools:${version}`],
    alone: true,
  }
}

async function installJava(onProgress: (line: string) => void): Promise<Java> {
  await installPackages(['openjdk-17-jre-headless', 'maven'], onProgress).catch(() =>
    installPackages(['default-jre-headless', 'maven'], onProgress),
  )
  const java = await findJava()
  if (java === undefined) throw unavailable(NO_WAY)
  return java
}
