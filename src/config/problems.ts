import type { MillraceErrorCode } from '../model/error-table.ts'
import { MillraceError } from '../model/errors.ts'
import { lineText, positionOf, positionText, type Place } from './source-file.ts'
import { shownLine } from './shown-line.ts'

/** One mistake, or one thing that is odd, in the configuration. */
export interface Problem {
  readonly place: Place | undefined
  /** What is wrong, one sentence part in lower case. */
  readonly message: string
  /** What to write instead. */
  readonly hint: string | undefined
  readonly code: MillraceErrorCode
}

/** Nobody reads more of them at once. */
const SHOWN_MAX = 100

const MESSAGE_CHARACTERS_MAX = 1_000

/** All problems as one error; the cause of the `MillraceError` that loading throws. */
export class ConfigProblems extends Error {
  override readonly name = 'ConfigProblems'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    const more = problems.length - SHOWN_MAX
    const shown = problems.slice(0, SHOWN_MAX).map(renderProblem)
    super([...shown, ...(more > 0 ? [`… and ${String(more)} more`] : [])].join('\n'))
    this.problems = problems
  }
}

/** Collects every mistake instead of stopping at the first. */
export class ProblemList {
  readonly #mistakes: Problem[] = []
  readonly #warnings: Problem[] = []
  #isUnreadable = false

  /** Notes a mistake. */
  add(place: Place | undefined, message: string, hint?: string, code: MillraceErrorCode = 'CONFIG_INVALID'): void {
    this.#mistakes.push({ place, message: bounded(message), hint, code })
  }

  /** Notes a mistake that makes what follows from it an echo, such as a file that is no YAML. */
  addUnreadable(place: Place | undefined, message: string, hint?: string): void {
    this.#isUnreadable = true
    this.add(place, message, hint)
  }

  /** Notes something that is odd but no mistake. */
  warn(place: Place | undefined, message: string, hint?: string): void {
    this.#warnings.push({ place, message, hint, code: 'CONFIG_INVALID' })
  }

  get hasMistakes(): boolean {
    return this.#mistakes.length > 0
  }

  /** Whether a mistake with that code was noted. */
  has(code: MillraceErrorCode): boolean {
    return this.#mistakes.some(problem => problem.code === code)
  }

  get warnings(): readonly Problem[] {
    return this.#warnings
  }

  /** @throws MillraceError with every mistake so far, when one of them leaves nothing to go on with */
  throwIfUnreadable(): void {
    if (this.#isUnreadable) this.throwIfAny()
  }

  /** @throws MillraceError with every mistake, its code that of the first, `ConfigProblems` as its cause */
  throwIfAny(): void {
    const problems = this.#mistakes.toSorted(byPlace)
    const [first] = problems
    if (first === undefined) return
    const cause = new ConfigProblems(problems)
    const total = problems.length === 1 ? '1 error' : `${String(problems.length)} errors`
    throw new MillraceError(first.code, { cause, what: `${cause.message}\n${total}. Nothing was started.` })
  }
}

/** The problems a loading error carries; `undefined` when it is another error. */
export function problemsOf(error: unknown): readonly Problem[] | undefined {
  return error instanceof MillraceError && error.details.cause instanceof ConfigProblems
    ? error.details.cause.problems
    : undefined
}

/** A problem on one line, for a log. */
export function problemLine({ place, message, hint }: Problem): string {
  const where = place === undefined ? '' : `${positionText(place)}  `
  return `${where}${message}${hint === undefined ? '' : ` (${hint})`}`
}

/** A problem as a person reads it: where, what, the line with a mark under the place, and what to do. */
export function renderProblem({ place, message, hint }: Problem): string {
  if (place === undefined) return `${message}${hint === undefined ? '' : `\n      ${hint}`}`
  const { line, column } = positionOf(place.file, place.start)
  if (!place.file.isShown) {
    // A configuration object has no lines at all.
    const where = place.file.text === '' ? place.file.name : positionText(place)
    return `${where}  ${message}${hint === undefined ? '' : `\n      ${hint}`}`
  }
  const { text, mark } = shownLine(lineText(place.file, line), column, place.end - place.start)
  const number = String(line).padStart(5)
  const pointer = `${' '.repeat(number.length)} | ${mark}${hint === undefined ? '' : `  ${hint}`}`
  return `${positionText(place)}  ${message}\n${number} | ${text}\n${pointer}`
}

/** What was written may stand in a message, and may be of any length. */
function bounded(message: string): string {
  return message.length > MESSAGE_CHARACTERS_MAX ? `${message.slice(0, MESSAGE_CHARACTERS_MAX)}…` : message
}

function byPlace(a: Problem, b: Problem): number {
  if (a.place === undefined || b.place === undefined)
    return Number(a.place === undefined) - Number(b.place === undefined)
  if (a.place.file !== b.place.file) return 0
  return a.place.start - b.place.start
}
