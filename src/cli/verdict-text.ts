import { counted } from '../model/counted.ts'
import type { RunVerdict } from '../verification/check-run.ts'
import type { RunObservation } from '../verification/run-observation.ts'
import type { CheckName, CheckReport, CheckState, Verdict } from '../verification/verdict.ts'
import { textTable } from './text-table.ts'

/** What each check means, in a few words. */
const MEANING: Readonly<Record<CheckName, string>> = {
  quiescence: 'everything is read and decided (I15)',
  readers: 'markers and broker agree on what is committed',
  prefixFunction: 'outputs are what the input gives, no more, no less (I1)',
  tiling: 'results follow from the range that their transaction committed (I2)',
  atomicity: 'each transaction as a whole or not at all (I3)',
  state: 'changelogs fold to the state of the input (I4)',
  fencing: 'nothing of a former owner became visible (I5)',
  keyOrder: 'results stand in the order of the input (I8)',
  monotony: 'committed offsets never went back (I6)',
  dirtyInput: 'only committed input was processed (I7)',
  deadLetters: 'each refused record has one dead letter (I16)',
  anomalies: 'no duplicate, no circle of reads (G1)',
  totals: 'a plain model of the workload agrees',
  joins: 'plain models of the joins agree',
  history: 'what a reader was shown stayed true',
  liveness: 'recovery was in time (I15)',
  occurrences: 'what had to happen happened',
}

const STATE_WORDS: Readonly<Record<CheckState, string>> = {
  passed: 'ok',
  failed: 'VIOLATED',
  unjudged: 'not judged',
  notChecked: '-',
}

const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  consistent: 'consistent: what is visible is what exactly-once processing of the input gives.',
  violated: 'violated: what is visible is not what exactly-once processing of the input gives.',
  unjudged:
    'not judged. Nothing was found wrong; what is named above could not be checked, so it is not called consistent.',
}

/** A yes to which not every check could say its part. */
const WEAKER_YES =
  'consistent as far as it could be checked: what is visible is what exactly-once processing of the input gives, but not every\ntrace of how it came there could be looked at (see "Could not be checked"). With --strict such a run is not judged (75).'

/** The result for people. */
export function verdictText(run: RunObservation, { verdict, isComplete, summary, checks }: RunVerdict): string {
  const { plan, guarantee, hasProvenance } = run.application
  const lines = [
    `Application ${plan.applicationId}, ${guarantee}, ${hasProvenance ? 'with' : 'without'} provenance headers`,
    `${counted(summary.inputRecords, 'committed input record')} in ${counted(summary.tasks, 'task')}; ${String(summary.visibleRecords)} visible and ${String(summary.abortedRecords)} aborted records in what it writes${hasProvenance ? `; ${counted(summary.transactions, 'transaction')}` : ''}`,
    '',
    topicTable(run),
    '',
    textTable([
      ['check', 'result', 'compared', 'what'],
      ...checks.map(({ check, state, compared }) => [check, STATE_WORDS[state], String(compared), MEANING[check]]),
    ]),
    '',
    ...checks.flatMap(problemsOf),
    ...leftOut(checks),
    ...(guarantee === 'exactly_once_v2' ? [] : [`Note: ${guarantee} does not promise this.`]),
    `Verdict: ${verdict === 'consistent' && !isComplete ? WEAKER_YES : VERDICT_WORDS[verdict]}`,
    ...(verdict === 'unjudged' && !hasProvenance && needsProvenance(checks) ? [HOW_TO_MARK] : []),
  ]
  return lines.join('\n')
}

/** The result for programs: one object. */
export function verdictJson(run: RunObservation, { verdict, isComplete, summary, checks }: RunVerdict): string {
  const { plan, guarantee, hasProvenance } = run.application
  const topics = run.logs.all().map(({ topic, partition, logStart, lastStableOffset, highWatermark, records }) => ({
    topic,
    partition,
    logStart,
    lastStableOffset,
    highWatermark,
    committed: records.filter(({ fate }) => fate === 'committed').length,
    aborted: records.filter(({ fate }) => fate === 'aborted').length,
    open: records.filter(({ fate }) => fate === 'open').length,
    offset: run.committed.get({ topic, partition })?.offset ?? null,
  }))
  return JSON.stringify({
    verdict,
    complete: isComplete,
    application: plan.applicationId,
    guarantee,
    provenance: hasProvenance,
    summary,
    checks,
    topics,
  })
}

function topicTable(run: RunObservation): string {
  const rows = run.logs
    .all()
    .map(({ topic, partition, logStart, highWatermark, lastStableOffset, records }) => [
      `${topic}-${String(partition)}`,
      String(logStart),
      String(highWatermark),
      lastStableOffset === highWatermark ? 'end' : String(lastStableOffset),
      String(run.committed.get({ topic, partition })?.offset ?? ''),
      String(records.filter(({ fate }) => fate === 'committed').length),
      String(records.filter(({ fate }) => fate === 'aborted').length),
    ])
  return textTable([['partition', 'start', 'end', 'stable to', 'group at', 'committed', 'aborted'], ...rows])
}

/** What to do about reasons that say so. */
const HOW_TO_MARK = `
To have such a run judged, let its records say where they come from, from the first one on, and verify again:
  streams: { provenance.headers: true }
It is a mode for diagnosis (about 200 bytes more per record, repartition topics are not purged). A run without it is as good as any
other; only this proof of it is missing. docs/operations.md, "Verifying a run".`

function needsProvenance(checks: readonly CheckReport[]): boolean {
  const unjudged = checks.filter(({ state }) => state === 'unjudged')
  // None: only `--strict` keeps it from being called consistent.
  const inTheWay =
    unjudged.length > 0 ? unjudged.map(({ reasons }) => reasons) : checks.map(({ leftOut: parts }) => parts)
  return inTheWay.flat().some(reason => /provenance\.headers/.test(reason))
}

function problemsOf({ check, findings, state, reasons, leftOut: parts }: CheckReport): readonly string[] {
  const found = findings.map(({ kind, message }) => `  ${kind}: ${message}`)
  const missing =
    state === 'unjudged'
      ? reasons.filter(reason => !parts.includes(reason)).map(reason => `  not judged: ${reason}`)
      : []
  return found.length + missing.length === 0 ? [] : [`${check}:`, ...found, ...missing, '']
}

/** What weakens a yes, and behind it what nobody asked for. */
function leftOut(checks: readonly CheckReport[]): readonly string[] {
  const named = (title: string, reasonsOf: (report: CheckReport) => readonly string[]): readonly string[] => {
    const lines = checks.flatMap(report => reasonsOf(report).map(reason => `  ${report.check}: ${reason}`))
    return lines.length === 0 ? [] : [title, ...lines, '']
  }
  return [
    ...named('Could not be checked:', report => report.leftOut),
    ...named('Not checked:', ({ state, reasons, leftOut: parts }) =>
      state === 'unjudged' ? [] : reasons.filter(reason => !parts.includes(reason)),
    ),
  ]
}
