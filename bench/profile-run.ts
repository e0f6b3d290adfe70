import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { withFolder } from './contender-process.ts'
import { CONTENDERS } from './contenders/all.ts'
import { busyProcessors, sourceCommit } from './machine.ts'
import { keepBusiest, profiled, type Step, stepsOf } from './profile.ts'
import type { Scenario } from './scenario.ts'
import { Stage, type StageOptions } from './stage.ts'
import { runThroughput } from './throughput-run.ts'

/** Where the time of a record went in one scenario. */
export interface ProfileReport {
  readonly id: string
  readonly date: string
  readonly commit: string
  /** How many processors were busy before anything was started; NaN where it is not known. */
  readonly busyBefore: number
  readonly records: number
  /** Time of the process's processors per record in the second half, in µs, the profiler's own share included. */
  readonly micros: number
  /** Of the stream thread. */
  readonly steps: readonly Step[]
}

/** The file that a scenario's profile is left in. */
export function profileFile(id: string): string {
  return `millrace-${id}.cpuprofile`
}

/** Runs each scenario once with millrace under V8's profiler, and leaves the profiles in the current folder. */
export async function profileAll(
  scenarios: readonly Scenario[],
  options: Omit<StageOptions, 'brokers'>,
): Promise<readonly ProfileReport[]> {
  const busyBefore = await busyProcessors()
  const stage = await Stage.open({ brokers: 1, ...options })
  const reports: ProfileReport[] = []
  try {
    for (const scenario of scenarios) {
      options.say(`profiling ${scenario.id}`)
      reports.push(await withFolder(async folder => ({ ...(await profileOne(stage, scenario, folder)), busyBefore })))
      await stage.inputs.keepOnly(scenario)
    }
  } finally {
    await stage.close()
  }
  return reports
}

async function profileOne(
  stage: Stage,
  scenario: Scenario,
  folder: string,
): Promise<Omit<ProfileReport, 'busyBefore'>> {
  const profiles = join(folder, 'profiles')
  await mkdir(profiles)
  const { steady, records } = await runThroughput(stage, scenario, profiled(CONTENDERS.millrace, profiles))
  return {
    id: scenario.id,
    date: new Date().toISOString().slice(0, 10),
    commit: await sourceCommit(),
    records,
    micros: steady.clientCpuMicros,
    steps: stepsOf(await keepBusiest(profiles, profileFile(scenario.id))),
  }
}
