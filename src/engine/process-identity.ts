import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../model/clock.ts'
import { MillraceError, reasonOf } from '../model/errors.ts'
import { systemClock } from './system-clock.ts'

/** Directory of one application below `state.dir`; 0700, its files 0600, because state is a plain copy of topics. */
export function applicationStateDir(stateDir: string, applicationId: string): string {
  return join(stateDir, applicationId.replaceAll(/[^\w.-]/g, '_'))
}

/** Who this process is across restarts, and the lock that no second process is. */
export interface ProcessIdentity {
  /** Kept in `state.dir`; instance and transactional ids are made from it, so both live and die together. */
  readonly processId: string
  release(): Promise<void>
}

/**
 * Takes the state directory: reads or creates the process id and holds a lock for the life of the process. A lock left
 * by a killed process is taken over at once.
 *
 * @throws MillraceError `STORE_LOCKED` when a live process holds the directory, `CONFIG_INVALID` when it cannot be used
 */
export async function takeProcessIdentity(stateDir: string, applicationId: string): Promise<ProcessIdentity> {
  const directory = applicationStateDir(stateDir, applicationId)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw unusable(directory, error)
  }
  const lockFile = join(directory, 'lock')
  await takeLock(lockFile, directory)
  try {
    const processId = await readOrCreateId(directory)
    let isReleased = false
    return {
      processId,
      release: async () => {
        // Twice is once: the lock may be another's by then.
        if (isReleased) return
        isReleased = true
        await removeLock(lockFile)
      },
    }
  } catch (error) {
    await removeLock(lockFile)
    throw error
  }
}

/** The locks this process holds: its own number in the file does not tell a second instance in it from a first one. */
const held = new Set<string>()

async function removeLock(lockFile: string): Promise<void> {
  await rm(lockFile, { force: true })
  held.delete(lockFile)
}

/**
 * The lock is a file with the owner's pid and its start time: a pid alone may be reused, above all in a container where
 * every process is number 1.
 */
async function takeLock(lockFile: string, directory: string): Promise<void> {
  if (held.has(lockFile)) {
    throw new MillraceError('STORE_LOCKED', {
      what: `Another instance in this process uses the state directory ${directory}.`,
    })
  }
  held.add(lockFile)
  try {
    await writeLock(lockFile, directory)
  } catch (error) {
    held.delete(lockFile)
    throw error
  }
}

async function writeLock(lockFile: string, directory: string): Promise<void> {
  const own = `${String(process.pid)} ${(await startTimeOf(process.pid)) ?? ''}`
  for (let attempt = 1; attempt <= LOCK_ATTEMPTS; attempt += 1) {
    try {
      return await createWhole(lockFile, own)
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw unusable(directory, error)
    }
    const holder = await readFile(lockFile, 'utf8').catch(() => '')
    if (holder === '' && attempt < LOCK_ATTEMPTS / 2) {
      // Just removed, or its owner is about to write into it. Empty for longer: the owner died in between.
      await sleep(systemClock, LOCK_RETRY_MS)
      continue
    }
    if (holder !== own && (await isAlive(holder))) {
      throw new MillraceError('STORE_LOCKED', {
        what: `Process ${holder.split(' ')[0] ?? ''} uses the state directory ${directory}.`,
      })
    }
    await removeStale(lockFile, holder)
  }
  throw new MillraceError('STORE_LOCKED', {
    what: `The lock of the state directory ${directory} changes hands all the time.`,
  })
}

const LOCK_ATTEMPTS = 20
const LOCK_RETRY_MS = 20

/** Creates the lock with its content in one step, so that no other starter finds it empty. @throws EEXIST when it is there */
async function createWhole(lockFile: string, own: string): Promise<void> {
  const whole = `${lockFile}.${randomUUID()}`
  await writeFile(whole, own, { mode: 0o600 })
  try {
    await link(whole, lockFile)
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw error
    // A file system without hard links.
    await writeFile(lockFile, own, { mode: 0o600, flag: 'wx' })
  } finally {
    await rm(whole, { force: true })
  }
}

/**
 * Removes the lock of a dead holder. Of two starters that both saw it the slower one gets hold of the other's new lock
 * instead: what was moved aside is looked at, and put back.
 */
async function removeStale(lockFile: string, holder: string): Promise<void> {
  const aside = `${lockFile}.${randomUUID()}`
  try {
    await rename(lockFile, aside)
  } catch {
    // Somebody else was faster.
    return
  }
  const moved = await readFile(aside, 'utf8').catch(() => holder)
  if (moved === holder) await rm(aside, { force: true })
  else await rename(aside, lockFile)
}

async function isAlive(holder: string): Promise<boolean> {
  const [pidText, startTime] = holder.split(' ')
  const pid = Number(pidText)
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
  const now = await startTimeOf(pid)
  return now === undefined || startTime === undefined || startTime === '' || now === startTime
}

/** Start time of a process in clock ticks since boot, where the system tells it (Linux). */
async function startTimeOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch(() => undefined)
  // The name in parentheses may hold spaces; the start time is the 20th field behind it.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

async function readOrCreateId(directory: string): Promise<string> {
  const file = join(directory, 'process-id')
  const existing = await readFile(file, 'utf8').catch((cause: unknown) => {
    if (systemCode(cause) === 'ENOENT') return undefined
    // A new id in its place would wait out the session and the open transaction of the old one.
    throw unusable(directory, cause)
  })
  if (existing !== undefined && /^[0-9a-f-]{36}$/.test(existing.trim())) return existing.trim()
  const created = randomUUID()
  await writeFile(`${file}.new`, `${created}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
  return created
}

function systemCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function unusable(directory: string, cause: unknown): MillraceError {
  return new MillraceError('CONFIG_INVALID', {
    cause,
    what: `The state directory ${directory} cannot be used: ${reasonOf(cause)}.`,
    action: 'Make `state.dir` a writable directory: the process id kept there lets a restart take its place at once.',
  })
}
