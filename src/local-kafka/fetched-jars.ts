import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isCode, withLock } from './cache.ts'
import { commandWorks, runCommand } from './command.ts'
import { installPackages } from './packages.ts'
import { unavailable } from './unavailable.ts'

/** Jars that are fetched through Maven once. */
export interface FetchedJars {
  /** As progress is told: "Fetching <what>". */
  readonly what: string
  readonly size: string
  /** Folder of theirs in the cache folder. */
  readonly folder: string
  /** `group:artifact:version` of each. */
  readonly artifacts: readonly string[]
  /** Whether what they depend on is left out: it is there already. */
  readonly alone: boolean
}

/** Written last, so that a folder without it is a download that was cut off. */
const MARKER = '.complete'
const DOWNLOAD_TIMEOUT_MS = 600_000
const PROGRESS_MS = 5_000

/**
 * Absolute paths of jars in a cache folder, sorted; fetches them when they are not there.
 *
 * @throws LOCAL_KAFKA_UNAVAILABLE without a way to them
 */
export async function fetchedJars(
  cache: string,
  jars: FetchedJars,
  onProgress: (line: string) => void,
): Promise<readonly string[]> {
  const libs = join(cache, jars.folder)
  if (!(await isComplete(libs))) {
    await withLock(join(cache, 'download.lock'), DOWNLOAD_TIMEOUT_MS, async () => {
      if (!(await isComplete(libs))) await download(cache, libs, jars, onProgress)
    })
  }
  return jarsIn(libs)
}

/** Absolute paths of the jars in a folder, sorted. @throws LOCAL_KAFKA_UNAVAILABLE when it cannot be read */
export async function jarsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw unavailable(`The folder of Kafka's jars cannot be read: ${folder}`, cause)
  })
  return names
    .filter(name => name.endsWith('.jar'))
    .toSorted()
    .map(name => join(folder, name))
}

async function isComplete(libs: string): Promise<boolean> {
  return stat(join(libs, MARKER)).then(
    () => true,
    () => false,
  )
}

async function download(
  cache: string,
  libs: string,
  { what, size, artifacts, alone }: FetchedJars,
  onProgress: (line: string) => void,
): Promise<void> {
  if (!(await commandWorks('mvn', ['--version'], 30_000))) await installPackages(['maven'], onProgress)
  await mkdir(cache, { recursive: true })
  const temporary = await mkdtemp(join(cache, 'download-'))
  onProgress(`Fetching ${what} through Maven (${size}, once)`)
  const startedMs = Date.now()
  const ticker = setInterval(() => {
    onProgress(`Still fetching ${what} (${String(Math.round((Date.now() - startedMs) / 1000))} s)`)
  }, PROGRESS_MS)
  try {
    await writeFile(join(temporary, 'pom.xml'), pom(artifacts))
    const { exitCode, output } = await runCommand(
      'mvn',
      [
        '-q',
        '-B',
        '-ntp',
        'dependency:copy-dependencies',
        alone ? '-DexcludeTransitive=true' : '-DincludeScope=runtime',
        `-DoutputDirectory=${join(temporary, 'libs')}`,
      ],
      { timeoutMs: DOWNLOAD_TIMEOUT_MS, cwd: temporary },
    )
    if (exitCode !== 0) throw unavailable(`Maven could not fetch ${what}:\n${output.slice(-1_500)}`)
    await writeFile(join(temporary, 'libs', MARKER), '')
    await rm(libs, { recursive: true, force: true })
    await rename(join(temporary, 'libs'), libs).catch((error: unknown) => {
      if (!isCode(error, 'ENOTEMPTY') && !isCode(error, 'EEXIST')) throw error
    })
    onProgress(`Fetched ${what} into ${libs}`)
  } finally {
    clearInterval(ticker)
    await rm(temporary, { recursive: true, force: true })
  }
}

/** A Maven project whose only purpose is to name what is to be fetched. */
function pom(artifacts: readonly string[]): string {
  return [
    '<project>',
    '<modelVersion>4.0.0</modelVersion>',
    '<groupId>millrace</groupId><artifactId>local-kafka</artifactId><version>1</version><packaging>pom</packaging>',
    '<dependencies>',
    ...artifacts.map(dependency),
    '</dependencies>',
    '</project>',
  ].join('\n')
}

function dependency(artifact: string): string {
  const [group = '', name = '', version = ''] = artifact.split(':')
  return `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`
}
