import { readFileSync } from 'node:fs'

/** What a process has used so far. */
export interface ProcessUsage {
  /** Time of processors, user and system, its own and that of children that have ended, in s. */
  readonly cpuSeconds: number
  /** Most memory that was resident at once, in bytes. */
  readonly peakBytes: number
}

/** Linux counts in hundredths of a second, whatever the kernel was built with. */
export const TICKS_PER_SECOND = 100
/** Fields of `/proc/<pid>/stat` behind the name: user, system, and both of the children that were waited for. */
const CPU_FIELDS = [11, 12, 13, 14]

/**
 * Reads what a living process has used.
 *
 * @throws when it has ended, or when there is no `/proc`
 */
export function usageOf(pid: number): ProcessUsage {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8')
  const kilobytes = Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0)
  return { cpuSeconds: cpuSecondsOf(stat), peakBytes: kilobytes * 1_024 }
}

/** The time of processors that a `/proc/<pid>/stat` tells of; the name in it may hold anything. */
export function cpuSecondsOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return CPU_FIELDS.reduce((sum, at) => sum + Number(fields[at]), 0) / TICKS_PER_SECOND
}

/** Time of processors that several processes have used together, in s. */
export function cpuSecondsOfAll(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + usageOf(pid).cpuSeconds, 0)
}
