import { readFile } from 'node:fs/promises'
import { systemClock } from '../engine/system-clock.ts'
import { MillraceError } from '../model/errors.ts'
import { checkRun, strictly } from '../verification/check-run.ts'
import { type HistoryEvent, readHistory } from '../verification/history.ts'
import { TooMuchToRead } from '../verification/log-reader.ts'
import { observeRun } from '../verification/observe-run.ts'
import type { RunObservation } from '../verification/run-observation.ts'
import type { Verdict } from '../verification/verdict.ts'
import type { ApplicationPlace } from './application-options.ts'
import { withCluster } from './cluster-access.ts'
import type { CommandIo } from './command-io.ts'
import { loadPlanned, type PlannedApplication } from './loaded-application.ts'
import { ProgressLine } from './progress-line.ts'
import { verdictJson, verdictText } from './verdict-text.ts'

/** What `verify` is asked. */
export interface VerifyOptions {
  readonly format: 'text' | 'json'
  readonly waitMs: number
  readonly recordsMax: number
  readonly historyFile: string | undefined
  /** Whether a check that could not be made in whole keeps the run from being called consistent. */
  readonly isStrict: boolean
}

/** BSD's sysexits: EX_DATAERR, EX_TEMPFAIL. */
const EXIT_CODE_OF: Readonly<Record<Verdict, number>> = { consistent: 0, violated: 65, unjudged: 75 }

/** `millrace verify`. Reads only. @returns the exit code */
export async function verifyApplication(
  place: ApplicationPlace,
  options: VerifyOptions,
  io: CommandIo,
): Promise<number> {
  const application = await loadPlanned(place)
  const history = options.historyFile === undefined ? undefined : await historyOf(options.historyFile)
  const progress = new ProgressLine(io, systemClock)
  let observation: RunObservation
  try {
    observation = await observe(application, options, progress)
  } catch (error) {
    if (!(error instanceof TooMuchToRead)) throw error
    return tooMuch(error, options, io)
  } finally {
    progress.end()
  }
  const run = history === undefined ? observation : { ...observation, history }
  const verdict = options.isStrict ? strictly(checkRun(run)) : checkRun(run)
  io.out(options.format === 'json' ? verdictJson(run, verdict) : verdictText(run, verdict))
  return EXIT_CODE_OF[verdict.verdict]
}

function tooMuch(error: TooMuchToRead, { format, recordsMax }: VerifyOptions, io: CommandIo): number {
  const reason = `${error.message}; --max-records ${String(recordsMax * 2)} would allow twice as many`
  io.out(
    format === 'json'
      ? JSON.stringify({ verdict: 'unjudged', complete: false, reasons: [reason] })
      : `Not judged: ${reason}.`,
  )
  return EXIT_CODE_OF.unjudged
}

function observe(
  { config, plan }: PlannedApplication,
  { waitMs, recordsMax }: VerifyOptions,
  progress: ProgressLine,
): Promise<RunObservation> {
  return withCluster(config, ({ cluster, admin }) =>
    observeRun({
      cluster,
      admin,
      clock: systemClock,
      plan,
      policies: config.errors,
      guarantee: config.guarantee,
      settleTimeoutMs: waitMs,
      recordsMax,
      onProgress: doing => {
        progress.show(doing)
      },
    }),
  )
}

async function historyOf(file: string): Promise<readonly HistoryEvent[]> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new MillraceError('USAGE', {
      cause,
      what: `The history ${file} cannot be read.`,
      action: 'Correct --history.',
    })
  }
  return readHistory(text)
}
