import type { MillraceProcess } from '../../support/millrace-process.ts'

/** How often what a run is about really happened; a run in which nothing did proves nothing. */
export interface Sometimes {
  /** By kind of fault. */
  readonly faults: Readonly<Record<string, number>>
  /** By SIGKILL, or at a crash point. */
  readonly kills: number
  readonly aborts: number
  /** Fenced, or a membership lost. */
  readonly fences: number
  /** Commits whose outcome was asked for. */
  readonly unknownCommits: number
  readonly rebalances: number
  /** Stores that were read back from their changelogs. */
  readonly restores: number
}

const WENT_BACK = 'going back to the last commit'
const READ_BACK = 'a commit had no answer; the group was asked what became of it'
const ASSIGNED = 'assignment applied'
const RESTORED = 'store restored'
const FENCED = /PRODUCER_FENCED|MEMBERSHIP_LOST|INSTANCE_ID_IN_USE/

/** Counts in the logs of all lives. */
export function sometimesOf(lives: readonly MillraceProcess[], faults: ReadonlyMap<string, number>): Sometimes {
  const lines = lives.flatMap(process => process.lines)
  const saying = (message: string): string[] => lines.filter(line => line.includes(message))
  return {
    faults: Object.fromEntries(faults),
    kills: (faults.get('kill') ?? 0) + (faults.get('crash') ?? 0),
    aborts: saying(WENT_BACK).length,
    fences: saying(WENT_BACK).filter(line => FENCED.test(line)).length,
    unknownCommits: saying(READ_BACK).length,
    rebalances: saying(ASSIGNED).length,
    restores: saying(RESTORED).length,
  }
}
