import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from '../src/local-kafka/package-root.ts'
import { chartOf } from './chart.ts'
import { benchmarksPage } from './page.ts'
import { withProfiles } from './profile-report.ts'
import type { ProfileReport } from './profile-run.ts'
import type { BenchResult } from './result.ts'

/** What is made from the kept result, by path below the project. */
export const DOCUMENTS: Readonly<Record<string, (result: BenchResult) => string>> = {
  'docs/benchmarks.md': benchmarksPage,
  'docs/benchmarks.svg': chartOf,
}

/** Writes the page and the chart of a result. */
export async function writeDocuments(result: BenchResult): Promise<void> {
  for (const [path, render] of Object.entries(DOCUMENTS)) await writeFile(join(packageRoot(), path), render(result))
}

/** The page that tells where the time of a record goes; profiles are a section of it. */
export const PROFILE_PAGE = 'docs/performance.md'

/** Writes the section of the profiles. */
export async function writeProfileSection(reports: readonly ProfileReport[]): Promise<void> {
  const path = join(packageRoot(), PROFILE_PAGE)
  await writeFile(path, withProfiles(await readFile(path, 'utf8'), reports))
}
