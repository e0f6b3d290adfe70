/** A test that has to go red, and why. */
export interface Catcher {
  /** Path below `test/`, without ending. */
  readonly file: string
  /** Part of the test's title. */
  readonly title: string
  /** What its failure has to say: red for another reason does not count. */
  readonly reason: RegExp
}

/** A bug that is put into a copy of the compiled sources. */
export interface Mutation {
  /** Kebab-case; `--only` takes it. */
  readonly name: string
  /** What is wrong then, in one sentence. */
  readonly bug: string
  /** Path below `src/`, without ending. */
  readonly file: string
  /** Must be there exactly once; blanks, quotes and semicolons may differ. */
  readonly text: string
  readonly replacement: string
  readonly caughtBy: readonly Catcher[]
  /** Whether it is quick enough for every run of the tests: no broker. */
  readonly cheap?: true
}

/** The run with everything in it, judged by the checker. */
export const EVERYTHING = {
  file: 'integration/verification/everything',
  title: 'is consistent after an abort, a kill −9, restores and a second thread',
} as const

/** The checker's finding, as the failed test shows it. */
export function finding(check: string, kind: string): RegExp {
  return new RegExp(`"check":"${check}","kind":"${kind}"`)
}
