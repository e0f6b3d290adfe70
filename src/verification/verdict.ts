/** The checks, by what they look at; docs/correctness.md explains each. */
export type CheckName =
  | 'readers'
  | 'quiescence'
  | 'prefixFunction'
  | 'tiling'
  | 'atomicity'
  | 'state'
  | 'fencing'
  | 'monotony'
  | 'dirtyInput'
  | 'keyOrder'
  | 'joins'
  | 'anomalies'
  | 'deadLetters'
  | 'liveness'
  | 'totals'
  | 'history'
  | 'occurrences'

/** One thing that must not be. */
export interface Finding {
  readonly check: CheckName
  /** Such as `lost`, `duplicate`, `torn`, `G1a`. */
  readonly kind: string
  /** One sentence with topic, partition and offset. */
  readonly message: string
}

/**
 * What a check came to. `failed`: something is wrong. `unjudged`: it had to be checked and could not. `notChecked`: it
 * compared nothing, because it does not apply, or because what it needs is not there and other checks cover the promise.
 */
export type CheckState = 'passed' | 'failed' | 'unjudged' | 'notChecked'

/** One check of a run. */
export interface CheckReport {
  readonly check: CheckName
  readonly state: CheckState
  /** How many things were compared; a check that compared nothing has not passed. */
  readonly compared: number
  readonly findings: readonly Finding[]
  /** Why it is unjudged or was not checked; what was left out is among it. */
  readonly reasons: readonly string[]
  /** What belongs to the promise and could not be looked at, because its traces are gone or were never there: a yes without it is weaker. */
  readonly leftOut: readonly string[]
}

/** What a run was: `consistent` only when something was compared and every check that has to be made was made. */
export type Verdict = 'consistent' | 'violated' | 'unjudged'

/** Findings kept per check; the rest is counted. */
const FINDINGS_MAX = 20

/** Collects what one check finds. */
export class CheckBook {
  readonly check: CheckName
  readonly #findings: Finding[] = []
  readonly #unjudged: string[] = []
  readonly #leftOut: string[] = []
  readonly #notChecked: string[] = []
  #more = 0
  #compared = 0

  constructor(check: CheckName) {
    this.check = check
  }

  /** Notes that so many things were compared. */
  compared(count = 1): void {
    this.#compared += count
  }

  /** Notes a violation. */
  found(kind: string, message: string): void {
    if (this.#findings.length < FINDINGS_MAX) this.#findings.push({ check: this.check, kind, message })
    else this.#more += 1
  }

  /** Notes that something which has to be judged cannot be. */
  unjudged(reason: string): void {
    if (!this.#unjudged.includes(reason)) this.#unjudged.push(reason)
  }

  /** Notes a part of the check that could not be made: nothing speaks against the run, and less speaks for it. */
  leftOut(reason: string): void {
    if (!this.#leftOut.includes(reason)) this.#leftOut.push(reason)
  }

  /** Notes that a check does not apply, or that nobody asked for it. */
  notChecked(reason: string): void {
    if (!this.#notChecked.includes(reason)) this.#notChecked.push(reason)
  }

  get hasFindings(): boolean {
    return this.#findings.length > 0
  }

  report(): CheckReport {
    const findings = [...this.#findings]
    if (this.#more > 0) {
      findings.push({ check: this.check, kind: 'more', message: `… and ${String(this.#more)} more` })
    }
    const leftOut = [...this.#leftOut]
    const reasons = [...this.#unjudged, ...leftOut, ...this.#notChecked]
    return { check: this.check, state: this.#state(), compared: this.#compared, findings, reasons, leftOut }
  }

  #state(): CheckState {
    if (this.#findings.length > 0) return 'failed'
    if (this.#unjudged.length > 0) return 'unjudged'
    return this.#compared > 0 ? 'passed' : 'notChecked'
  }
}

/** What logs say that were read at different moments, before and after a commit, when they are put side by side. */
const RESTS_ON_ONE_MOMENT: ReadonlySet<CheckName> = new Set<CheckName>([
  'quiescence',
  'prefixFunction',
  'tiling',
  'state',
  'dirtyInput',
  'deadLetters',
  'totals',
  'joins',
])

/** The report of a run that went on while it was looked at: what needs logs of one moment is left open, with its findings. */
export function ofMovingRun(report: CheckReport): CheckReport {
  if (report.state !== 'failed' || !RESTS_ON_ONE_MOMENT.has(report.check)) return report
  const reason = 'the application committed while it was looked at: what was found may come of that'
  return { ...report, state: 'unjudged', reasons: [reason, ...report.reasons] }
}

/** The verdict of all checks. */
export function verdictOf(reports: readonly CheckReport[]): Verdict {
  if (reports.some(({ state }) => state === 'failed')) return 'violated'
  if (reports.some(({ state }) => state === 'unjudged')) return 'unjudged'
  // A run in which nothing was compared proves nothing.
  return reports.some(({ check, state }) => check === 'prefixFunction' && state === 'passed')
    ? 'consistent'
    : 'unjudged'
}

/** Whether every check that applies was made in whole. */
export function isComplete(reports: readonly CheckReport[]): boolean {
  return reports.every(({ leftOut }) => leftOut.length === 0)
}
