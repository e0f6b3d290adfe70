import type { TestOrder } from './run-tests-files.ts'

/** What a failed test threw, in a form that goes from process to process. */
export interface ReportedError {
  readonly message: string
  readonly stack: string
  /** Both sides of a comparison as text, where they are worth a diff. */
  readonly actual?: string
  readonly expected?: string
  readonly cause?: ReportedError
}

/** A test, or a hook that failed. */
export interface ReportedTest {
  /** Titles of the suites around it, then its own. */
  readonly titlePath: readonly string[]
  readonly durationMs: number
  /** From which duration on it counts as slow. */
  readonly slowMs: number
}

/** What happens in a lane, in order. */
export type LaneEvent =
  | { readonly type: 'suite'; readonly title: string }
  | { readonly type: 'suiteEnd' }
  /** A test begins; its outcome follows. */
  | { readonly type: 'test'; readonly test: ReportedTest }
  | { readonly type: 'pass'; readonly test: ReportedTest }
  | { readonly type: 'pending'; readonly test: ReportedTest }
  | { readonly type: 'fail'; readonly test: ReportedTest; readonly error: ReportedError }
  /** Printed by a test. */
  | { readonly type: 'output'; readonly text: string }
  /** All files of the order have been run. */
  | { readonly type: 'done' }

/** What a lane is told: run these files, or end. */
export type LaneOrder =
  { readonly type: 'run'; readonly order: TestOrder; readonly options: TestOptions } | { readonly type: 'end' }

/** The options of `.mocharc.json` that belong to the tests themselves. */
export interface TestOptions {
  readonly timeoutMs: number
  readonly forbidOnly: boolean
  readonly checkLeaks: boolean
  /** A regular expression that the full title must match. */
  readonly grep: string | undefined
}
