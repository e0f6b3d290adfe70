/** Measures millrace against its peers: `npm run bench -- --help`. */
import { removeClasses } from './contenders/java.ts'
import { measureAll } from './measuring.ts'
import { sourceCommit, thisMachine } from './machine.ts'
import { BenchUsageError, HELP, readOptions } from './options.ts'
import { type BenchResult, ratiosOf } from './result.ts'
import { planOf } from './suites.ts'

const USAGE_EXIT_CODE = 2

try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = error instanceof BenchUsageError ? USAGE_EXIT_CODE : 1
} finally {
  await removeClasses()
}

/** The result is all that goes to stdout. */
function say(line: string): void {
  console.error(line)
}

async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args)
  if (options.help) {
    console.log(HELP)
    return
  }
  const plan = planOf(options)
  if (plan.throughput.length + plan.latency.length === 0) throw new BenchUsageError('no scenario fits; see --help')
  const { rounds, latencyTimes } = options
  const { throughput, latency } = await measureAll({ plan, rounds, latencyTimes, say })
  const result: BenchResult = {
    format: 1,
    date: new Date().toISOString().slice(0, 10),
    commit: await sourceCommit(),
    machine: await thisMachine(),
    throughput,
    latency,
    ratios: ratiosOf(throughput, latency),
  }
  if (options.json) console.log(JSON.stringify(result))
}
