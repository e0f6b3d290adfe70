import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The command line as compiled beside the tests. */
const CLI = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
const TIMEOUT_MS = 300_000
const OUTPUT_BYTES_MAX = 64 * 1_048_576
const SHOWN_CHARACTERS = 3_000

/**
 * Has the project's own checker judge a run, as a user would: `millrace verify`.
 *
 * @returns what is wrong, in words; empty when the run is consistent
 */
export async function verifyByCommand(run: {
  readonly yaml: string
  /** Where the YAML file goes. */
  readonly folder: string
  readonly history: string
}): Promise<readonly string[]> {
  const file = join(run.folder, 'verify.yaml')
  await writeFile(file, run.yaml)
  const args = [CLI, 'verify', file, '--format', 'json', '--wait', '90s', '--history', run.history]
  return await new Promise(resolve => {
    execFile(
      process.execPath,
      ['--enable-source-maps', ...args],
      { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX },
      (error, stdout, stderr) => {
        if (error === null) resolve([])
        else
          resolve([
            `millrace verify: exit code ${String(error.code)}\n${problemsOf(stdout)}\n${stderr.slice(-SHOWN_CHARACTERS)}`,
          ])
      },
    )
  })
}

/** The checks that are not satisfied, or the output as it is. */
function problemsOf(stdout: string): string {
  try {
    const { checks } = JSON.parse(stdout) as { checks: readonly { readonly state: string }[] }
    return JSON.stringify(checks.filter(({ state }) => state === 'failed' || state === 'unjudged')).slice(
      0,
      SHOWN_CHARACTERS,
    )
  } catch {
    return stdout.slice(0, SHOWN_CHARACTERS)
  }
}
