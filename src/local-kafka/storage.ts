import { createHash, randomBytes } from 'node:crypto'
import { cp, mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brokerProperties, type NodePlace } from './broker-properties.ts'
import { isCode, withLock } from './cache.ts'
import { runCommand } from './command.ts'
import type { KafkaDistribution } from './jars.ts'
import { LOCAL_USERS, type LocalUser, type ResolvedOptions } from './options.ts'
import { unavailable } from './unavailable.ts'

const FORMAT_TIMEOUT_MS = 120_000

/**
 * Formats the storage of every node. Kafka's storage tool costs a JVM, so its output is kept per version and feature
 * level and copied; only the identities in `meta.properties` differ between nodes.
 */
export async function formatStorage(
  distribution: KafkaDistribution,
  options: ResolvedOptions,
  places: readonly NodePlace[],
  clusterId: string,
): Promise<void> {
  const template = await formattedTemplate(distribution, options)
  for (const { id, dataFolder } of places) {
    await cp(template, dataFolder, { recursive: true })
    const identity = {
      version: '1',
      'cluster.id': clusterId,
      'node.id': String(id),
      'directory.id': randomBytes(16).toString('base64url'),
    }
    const lines = Object.entries(identity).map(([name, value]) => `${name}=${value}`)
    await writeFile(join(dataFolder, 'meta.properties'), `${lines.join('\n')}\n`)
  }
}

/** A random cluster id in Kafka's form: 16 bytes as base64 for URLs, without a leading dash. */
export function randomClusterId(): string {
  const id = randomBytes(16).toString('base64url')
  return id.startsWith('-') ? randomClusterId() : id
}

async function formattedTemplate(distribution: KafkaDistribution, options: ResolvedOptions): Promise<string> {
  const args = formatArguments(options)
  const name = createHash('sha256').update(args.join('\n')).digest('hex').slice(0, 12)
  const folder = join(distribution.folder, 'formatted')
  const template = join(folder, name)
  if (!(await exists(template))) {
    await withLock(join(folder, `${name}.lock`), FORMAT_TIMEOUT_MS, async () => {
      if (await exists(template)) return
      options.onProgress(`Preparing the storage format of Kafka ${distribution.version}`)
      await makeTemplate(distribution, options, args, template)
    })
  }
  return template
}

/** Arguments that decide what the tool writes; the properties that matter are the same for every local Kafka. */
function formatArguments(options: ResolvedOptions): string[] {
  const args: string[] = []
  if (options.version === '4.4.0') args.push('--feature', `transaction.version=${String(options.transactionVersion)}`)
  if (options.security === 'sasl_ssl') {
    for (const { username, password } of Object.values<LocalUser>(LOCAL_USERS)) {
      for (const mechanism of ['SCRAM-SHA-256', 'SCRAM-SHA-512']) {
        args.push('--add-scram', `${mechanism}=[name=${username},password=${password}]`)
      }
    }
  }
  return args
}

async function makeTemplate(
  distribution: KafkaDistribution,
  options: ResolvedOptions,
  args: readonly string[],
  template: string,
): Promise<void> {
  await mkdir(join(template, '..'), { recursive: true })
  const temporary = await mkdtemp(`${template}-`)
  try {
    const place: NodePlace = {
      id: 1,
      clientPort: 19_092,
      internalPort: 19_093,
      controllerPort: 19_094,
      dataFolder: join(temporary, 'data'),
    }
    const file = join(temporary, 'node.properties')
    const plain: ResolvedOptions = { ...options, acl: false, properties: {} }
    await writeFile(file, brokerProperties(plain, [place], place, undefined))
    const { java, jars } = distribution
    const { exitCode, output } = await runCommand(
      java.command,
      [
        '-XX:TieredStopAtLevel=1',
        '-XX:+UseSerialGC',
        '-cp',
        jars.join(':'),
        'kafka.tools.StorageTool',
        'format',
        '--cluster-id',
        randomClusterId(),
        '--config',
        file,
        ...args,
      ],
      { timeoutMs: FORMAT_TIMEOUT_MS },
    )
    if (exitCode !== 0 || !(await exists(join(place.dataFolder, 'meta.properties')))) {
      throw unavailable(`Kafka's storage tool failed:\n${output.slice(-1_500)}`)
    }
    await rename(place.dataFolder, template).catch((error: unknown) => {
      if (!isCode(error, 'ENOTEMPTY') && !isCode(error, 'EEXIST')) throw error
    })
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
