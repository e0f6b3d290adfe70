import { createHash } from 'node:crypto'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { KafkaDistribution } from './jars.ts'
import type { JvmProfile } from './options.ts'

/**
 * An archive of loaded classes (JDK class data sharing) that cuts a broker's start to less than half. It belongs to one
 * Java build, one list of jars and one set of JVM flags; the first broker that stops in good order leaves it behind.
 */
export interface ClassArchive {
  /** Flags for the JVM: use the archive, or make it at exit, or none. */
  readonly flags: readonly string[]
  /** Whether the JVM writes the archive at exit, which takes some seconds. */
  readonly making: boolean
  /** Puts the archive made in its place; call after the JVM has ended. */
  keep(): Promise<void>
  /** Throws away what was made. */
  drop(): Promise<void>
}

/** Finds the archive of a distribution, or has it made. Two processes that make it at once replace each other's, which is harmless. */
export async function classArchive(distribution: KafkaDistribution, jvm: JvmProfile): Promise<ClassArchive> {
  const { java, jars, folder } = distribution
  const name = createHash('sha256')
    .update([java.build, jvm, ...jars].join('\n'))
    .digest('hex')
    .slice(0, 12)
  const archive = join(folder, 'classes', `${name}.jsa`)
  if (await isThere(archive)) {
    return {
      flags: ['-Xshare:auto', `-XX:SharedArchiveFile=${archive}`],
      making: false,
      keep: () => Promise.resolve(),
      drop: () => Promise.resolve(),
    }
  }
  await mkdir(join(folder, 'classes'), { recursive: true })
  const temporary = `${archive}.${String(process.pid)}.${String(Date.now())}`
  return {
    flags: ['-Xlog:cds=off', '-Xlog:cds+dynamic=off', `-XX:ArchiveClassesAtExit=${temporary}`],
    making: true,
    keep: async () => {
      await rename(temporary, archive).catch(() => rm(temporary, { force: true }))
    },
    drop: () => rm(temporary, { force: true }),
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
