import { counted } from '../model/counted.ts'
import { asMillraceError, type MillraceError } from '../model/errors.ts'
import { problemsOf } from '../config/problems.ts'
import { positionOf } from '../config/source-file.ts'
import type { ApplicationPlace } from './application-options.ts'
import type { CommandIo } from './command-io.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { loadPlanned, type PlannedApplication } from './loaded-application.ts'

/** `millrace validate`. @returns the exit code */
export async function validateApplication(
  place: ApplicationPlace,
  format: 'text' | 'json',
  io: CommandIo,
): Promise<number> {
  if (format === 'json') return validateForTools(place, io)
  const application = await loadPlanned(place)
  for (const warning of application.warnings) io.err(`warning: ${warning}`)
  io.out(`${place.files.join(', ')}: valid. ${summaryOf(application)}`)
  return EXIT_CODES.ok
}

async function validateForTools(place: ApplicationPlace, io: CommandIo): Promise<number> {
  try {
    const { warnings } = await loadPlanned(place)
    io.out(JSON.stringify({ valid: true, errors: [], warnings }, undefined, 2))
    return EXIT_CODES.ok
  } catch (thrown) {
    const error = asMillraceError(thrown)
    io.out(JSON.stringify({ valid: false, errors: errorsOf(error), warnings: [] }, undefined, 2))
    return error.exitCode
  }
}

interface ErrorReport {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly file?: string
  readonly line?: number
  readonly column?: number
}

function errorsOf(error: MillraceError): readonly ErrorReport[] {
  const problems = problemsOf(error)
  if (problems === undefined) return [{ code: error.code, message: error.message, hint: error.action }]
  return problems.map(({ code, message, hint, place }) => ({
    code,
    message,
    hint,
    ...(place === undefined ? {} : { file: place.file.name, ...positionOf(place.file, place.start) }),
  }))
}

function summaryOf({ config, plan }: PlannedApplication): string {
  const stores = plan.subtopologies.flatMap(subtopology => subtopology.stores).length
  return `Application ${config.applicationId}, ${config.guarantee}, ${counted(plan.subtopologies.length, 'subtopology', 'subtopologies')}, ${counted(stores, 'store')}.`
}
