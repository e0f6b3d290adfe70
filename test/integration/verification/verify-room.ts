import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import type { CheckName, CheckReport } from '../../../src/verification/verdict.ts'
import { CommandCapture } from '../../support/command-capture.ts'

/** What `verify --format json` printed. */
export interface VerifyResult {
  readonly code: number
  readonly verdict: string
  readonly provenance: boolean
  readonly summary: { readonly inputRecords: number; readonly visibleRecords: number; readonly transactions: number }
  readonly checks: readonly CheckReport[]
  /** Everything that was said, for the message of a failed claim. */
  readonly text: string
}

/** Runs `millrace verify` on a YAML text. */
export async function verify(yaml: string, ...options: string[]): Promise<VerifyResult> {
  const { code, out, err } = await verifyText(yaml, '--format', 'json', ...options)
  const parsed = JSON.parse(out === '' ? '{}' : out) as Omit<VerifyResult, 'code' | 'text'>
  return { ...parsed, code, text: `${out}\n${err}` }
}

/** As `verify`, for people. */
export async function verifyText(
  yaml: string,
  ...options: string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-verify-'))
  try {
    const file = join(folder, 'app.yaml')
    await writeFile(file, yaml)
    const io = new CommandCapture()
    const code = await runCommandLine(['verify', file, ...options], { version: '0', commands: COMMANDS }, io)
    return { code, out: io.stdout.join('\n'), err: io.stderr.join('\n') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The report of one check. */
export function reportOf({ checks }: VerifyResult, name: CheckName): CheckReport {
  const report = checks.find(({ check }) => check === name)
  if (report === undefined) throw new Error(`there is no check ${name}`)
  return report
}

/** The kinds of findings of one check. */
export function kindsOf(result: VerifyResult, name: CheckName): readonly string[] {
  return [...new Set(reportOf(result, name).findings.map(({ kind }) => kind))]
}
