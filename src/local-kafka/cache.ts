import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { unavailable } from './unavailable.ts'

/** Folder that keeps what is fetched or made once: jars, formatted storage, class archives. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const base = env['XDG_CACHE_HOME']
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.cache'), 'millrace')
}

/**
 * Runs `work` while no other process does the same. A lock left by a process that is gone is taken over.
 *
 * @param path - file that stands for the lock; its folder is made when missing
 * @throws LOCAL_KAFKA_UNAVAILABLE when another process holds it for longer than `timeoutMs`
 */
export async function withLock<T>(path: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  await mkdir(join(path, '..'), { recursive: true })
  const deadline = Date.now() + timeoutMs
  while (!(await tryLock(path))) {
    if (Date.now() > deadline) throw unavailable(`Another process holds ${path} for too long.`)
    await delay(LOCK_POLL_MS)
  }
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}

const LOCK_POLL_MS = 100

async function tryLock(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx')
    await file.writeFile(String(process.pid))
    await file.close()
    return true
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  }
  // An empty file belongs to a process between open and write: it counts as alive.
  const owner = Number(await readFile(path, 'utf8').catch(() => ''))
  if (owner > 0 && !isAlive(owner)) await rm(path, { force: true })
  return false
}

/** Whether a process of that id exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return isCode(error, 'EPERM')
  }
}

/** Whether a thrown value is a system error of that code, such as `ENOENT`. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
