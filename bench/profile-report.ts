import { textTable } from '../src/cli/text-table.ts'
import { profileFile, type ProfileReport } from './profile-run.ts'
import { markdownTable } from './report.ts'

/** Less than that is not worth a line of its own. */
const FUNCTION_SHARE_MIN = 0.01
const STEP_SHARE_MIN = 0.001
const SECTION = /(<!-- profiles -->\n)[\s\S]*(<!-- end of profiles -->)/

/** What a terminal shows of profiles. */
export function profileText(reports: readonly ProfileReport[]): string {
  return reports
    .map(report => {
      const rows = report.steps.flatMap(({ name, share, functions }) => [
        [name, '', percent(share), micros(report, share)],
        ...functions
          .filter(each => each.share >= FUNCTION_SHARE_MIN)
          .map(each => ['', each.name, percent(each.share), micros(report, each.share)]),
      ])
      return [
        `${headline(report)}\n`,
        textTable([['step', 'function', 'share', 'µs'], ...rows]),
        `\nThe profile is in ${profileFile(report.id)}; the tools of Chrome and VS Code open it.\n`,
      ].join('\n')
    })
    .join('\n')
}

/** Puts profiles into their section of a document. @throws when it has none */
export function withProfiles(document: string, reports: readonly ProfileReport[]): string {
  if (!SECTION.test(document)) throw new Error('the document has no section for profiles')
  return document.replace(
    SECTION,
    (_, begin: string, end: string) => `${begin}\n${reports.map(section).join('\n')}\n${end}`,
  )
}

function section(report: ProfileReport): string {
  const shown = report.steps.filter(({ share }) => share >= STEP_SHARE_MIN)
  const rows = shown.map(({ name, share, functions }) => [
    name,
    percent(share),
    micros(report, share),
    functions
      .filter(each => each.share >= FUNCTION_SHARE_MIN && each.name.startsWith('src/'))
      .map(each => `\`${each.name.slice('src/'.length)}\` ${percent(each.share)}`)
      .join(', '),
  ])
  const table = markdownTable(['step', 'share', 'µs', 'most of it'], rows, ['most of it'])
  const { id, date, commit, busyBefore } = report
  return `### ${id}\n\n${headline(report)} (${date}, commit ${commit}${busyText(busyBefore)})\n\n${table}\n`
}

function busyText(processors: number): string {
  return Number.isNaN(processors) ? '' : `, processors busy before: ${processors.toFixed(1)}`
}

function headline({ id, micros: total, records }: ProfileReport): string {
  const many = records.toLocaleString('en')
  return `${id}: ${total.toFixed(2)} µs of processor time per record in the second half of ${many}, the profiler's share included.`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function micros({ micros: total }: ProfileReport, share: number): string {
  return (total * share).toFixed(2)
}
