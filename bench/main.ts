/** Measures millrace against its peers: `npm run bench -- --help`. */
import { writeDocuments, writeProfileSection } from './documents.ts'
import { busyProcessors, sourceCommit, thisMachine } from './machine.ts'
import { measureAll } from './measuring.ts'
import { type BenchOptions, BenchUsageError, HELP, readOptions } from './options.ts'
import { reportText } from './page.ts'
import { profileText } from './profile-report.ts'
import { profileAll } from './profile-run.ts'
import { regressionsOf } from './regression.ts'
import { readProfiles, readReference, writeProfiles, writeReference } from './result-file.ts'
import { type BenchResult, mergeResults, ratiosOf } from './result.ts'
import { type Plan, planOf } from './suites.ts'

const USAGE_EXIT_CODE = 2
const SIGNALLED_EXIT_CODE = 130

// Leaving in order ends the contender that is at work; the broker ends with this process in any case.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(SIGNALLED_EXIT_CODE))

try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = error instanceof BenchUsageError ? USAGE_EXIT_CODE : 1
}

async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args)
  if (options.help) {
    console.log(HELP)
    return
  }
  const reference = await readReference()
  if (options.render) {
    if (reference === undefined) throw new BenchUsageError('there is no result to render; --write-docs makes one')
    await writeDocuments(reference)
    await writeProfileSection(await readProfiles())
    return
  }
  const plan = planOf(options)
  if (options.profile) {
    await profile(options, plan)
    return
  }
  if (plan.throughput.length + plan.latency.length === 0) throw new BenchUsageError('no scenario fits; see --help')
  const { result, failures } = await measure(options, plan)
  console.log(reportText(result))
  if (reference !== undefined) for (const line of regressionsOf(reference, result)) console.log(line)
  if (options.writeDocs) {
    const kept = mergeResults(reference, result)
    await writeReference(kept)
    await writeDocuments((await readReference()) ?? kept)
  }
  for (const failure of failures) console.error(`failed: ${failure}`)
  if (failures.length > 0) process.exitCode = 1
  if (options.json) console.log(JSON.stringify(result))
}

async function profile({ cli, writeDocs }: BenchOptions, plan: Plan): Promise<void> {
  const reports = await profileAll(profiledOf(plan), { cli, say })
  console.log(profileText(reports))
  if (!writeDocs) return
  // As it is kept, so that the page can be compared with it.
  await writeProfiles(reports)
  await writeProfileSection(await readProfiles())
}

async function measure(
  { rounds, latencyTimes, cli }: BenchOptions,
  plan: Plan,
): Promise<{ result: BenchResult; failures: readonly string[] }> {
  const busyBefore = await busyProcessors()
  const { throughput, latency, failures } = await measureAll({ plan, rounds, latencyTimes, cli, say })
  const result: BenchResult = {
    format: 1,
    date: new Date().toISOString().slice(0, 10),
    commit: await sourceCommit(),
    machine: await thisMachine(),
    busyBefore,
    throughput,
    latency,
    ratios: ratiosOf(throughput, latency),
  }
  return { result, failures }
}

/** Scenarios to profile: those of one broker. */
function profiledOf({ throughput }: Plan): Plan['throughput'] {
  return throughput.filter(({ brokers }) => brokers === 1)
}

/** Progress goes to stderr, the result to stdout. */
function say(line: string): void {
  console.error(line)
}
