import { checkAnomalies } from './checks/anomalies.ts'
import { checkAtomicity } from './checks/atomicity.ts'
import { checkDeadLetters } from './checks/dead-letters.ts'
import { checkDirtyInput } from './checks/dirty-input.ts'
import { checkFencing } from './checks/fencing.ts'
import { checkHistory } from './checks/history.ts'
import { checkJoins } from './checks/joins.ts'
import { checkLiveness } from './checks/liveness.ts'
import { checkMonotony } from './checks/monotony.ts'
import { checkOccurrences } from './checks/occurrences.ts'
import { checkPrefixFunction } from './checks/prefix-function.ts'
import { checkQuiescence } from './checks/quiescence.ts'
import { checkReaders } from './checks/readers.ts'
import { checkState } from './checks/state.ts'
import { checkTiling } from './checks/tiling.ts'
import { checkTotals } from './checks/totals.ts'
import { runModel } from './model-run.ts'
import type { RunObservation } from './run-observation.ts'
import { allMarked, taskViews } from './task-view.ts'
import { type CheckReport, isComplete, ofMovingRun, type Verdict, verdictOf } from './verdict.ts'

/** What a run was like, in numbers. */
export interface RunSummary {
  readonly tasks: number
  /** Committed input records below C. */
  readonly inputRecords: number
  /** Visible records in the topics it writes. */
  readonly visibleRecords: number
  /** Records of aborted transactions in these topics. */
  readonly abortedRecords: number
  /** Transactions by provenance. */
  readonly transactions: number
}

/** The verdict on a run, and what it rests on. */
export interface RunVerdict {
  readonly verdict: Verdict
  /** Whether nothing was left out: a consistent run that is not complete is consistent as far as its traces go. */
  readonly isComplete: boolean
  readonly summary: RunSummary
  readonly checks: readonly CheckReport[]
}

/**
 * Judges a run from what was observed of it; touches nothing. `consistent` only if the input was recomputed and equals
 * what is visible, and nothing that had to be checked was left out; `unjudged` when that cannot be said.
 */
export function checkRun(run: RunObservation): RunVerdict {
  const tasks = taskViews(run)
  // Also where only some records carry provenance: what those say must be true.
  const marked = allMarked(run)
  const models = tasks.map(task => runModel(run, task, marked))
  const { fencing, keyOrder } = checkFencing(run, marked)
  const quiescence = checkQuiescence(run, tasks)
  const isAtRest = quiescence.state !== 'unjudged'
  const reports = [
    quiescence,
    checkReaders(run),
    checkPrefixFunction(run, models),
    checkTiling(run, tasks, marked),
    checkAtomicity(run, marked),
    checkState(run, models),
    fencing,
    keyOrder,
    checkMonotony(run),
    checkDirtyInput(run, marked),
    checkDeadLetters(run, models),
    checkAnomalies(run, tasks, marked),
    checkTotals(run, isAtRest),
    checkJoins(run, isAtRest),
    checkHistory(run),
    checkLiveness(run),
    checkOccurrences(run),
  ]
  const checks = run.hasMoved === true ? reports.map(ofMovingRun) : reports
  const outputs = [...new Set(models.flatMap(({ written }) => written.map(({ topic }) => topic)))]
  const written = outputs.flatMap(topic => run.logs.of(topic).flatMap(({ records }) => records))
  return {
    verdict: verdictOf(checks),
    isComplete: isComplete(checks),
    summary: {
      tasks: tasks.length,
      inputRecords: tasks.reduce(
        (sum, { inputs }) => sum + inputs.reduce((n, { records }) => n + records.length, 0),
        0,
      ),
      visibleRecords: written.filter(({ fate }) => fate === 'committed').length,
      abortedRecords: written.filter(({ fate }) => fate === 'aborted').length,
      transactions: new Set(marked.map(({ provenance }) => provenance.transaction)).size,
    },
    checks,
  }
}

/** The verdict of those who take no weaker yes: what is not complete is not judged. */
export function strictly(judged: RunVerdict): RunVerdict {
  return judged.verdict === 'consistent' && !judged.isComplete ? { ...judged, verdict: 'unjudged' } : judged
}
