import { setTimeout as pause } from 'node:timers/promises'
import type { TopicPartition } from '../src/model/topic-partition.ts'
import type { Contender } from './contenders/contender.ts'
import { ContenderProcess, withFolder } from './contender-process.ts'
import type { FilledTopic } from './inputs.ts'
import { checkOutput } from './output-check.ts'
import { cpuSecondsOfAll } from './process-usage.ts'
import { type Pace, type Sample, steadyPace, wholePace } from './progress.ts'
import { mergesUpdates, recordsFor, type Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

/** What one run has shown. */
export interface Measurement {
  readonly records: number
  readonly outputs: number
  readonly seconds: number
  readonly whole: Pace
  readonly steady: Pace
  readonly peakBytes: number
}

const POLL_MS = 10
const RUN_TIMEOUT_MS = 900_000

/**
 * Lets one contender do one scenario from an empty output to the last visible result, and checks every result.
 *
 * @throws when it fails, takes longer than 15 minutes, or when its output is wrong
 */
export async function runThroughput(stage: Stage, scenario: Scenario, contender: Contender): Promise<Measurement> {
  const input = await stage.inputs.main(scenario, recordsFor(scenario, contender.name))
  const table = scenario.workload === 'join' ? await stage.inputs.table(scenario) : undefined
  const { application, output } = await stage.newApplication(scenario)
  await stage.untilQuiet()
  return await withFolder(async folder => {
    const places = {
      bootstrapServers: stage.bootstrapServers,
      cli: stage.cli,
      application,
      input: input.topic,
      table: table?.topic ?? '',
      output,
      stateFolder: `${folder}/state`,
    }
    const launch = await contender.launch(scenario, places, folder)
    const samples: Sample[] = []
    const brokerCpuSeconds = cpuSecondsOfAll(stage.brokerPids)
    const startMs = performance.now()
    samples.push({ atMs: 0, done: 0, clientCpuSeconds: 0, brokerCpuSeconds })
    const running = await ContenderProcess.start(launch, folder)
    try {
      const count = progressOf(stage, contender, { application, input, output }, scenario.partitions)
      const peakBytes = await watch(stage, running, { startMs, records: input.records, samples, count })
      const expected = {
        workload: scenario.workload,
        input,
        tableValueBytes: (table?.valueBytes ?? 0) / Math.max(1, table?.records ?? 0),
        isCached: mergesUpdates(scenario, contender.name),
      }
      const outputs = await checkOutput(stage.bootstrapServers, output, expected)
      const seconds = (samples.at(-1)?.atMs ?? 0) / 1_000
      const [whole, steady] = [wholePace(samples), steadyPace(samples)]
      return { records: input.records, outputs, seconds, whole, steady, peakBytes }
    } finally {
      await running.end()
      await stage.remove(application, output)
    }
  })
}

/** How the number of records is asked for that are done. */
function progressOf(
  { admin }: Stage,
  { progress }: Contender,
  { application, input, output }: { application: string; input: FilledTopic; output: string },
  partitionCount: number,
): () => Promise<number> {
  const partitionsOf = (topic: string): TopicPartition[] =>
    Array.from({ length: partitionCount }, (_, partition) => ({ topic, partition }))
  const outputs = partitionsOf(output)
  const inputs = partitionsOf(input.topic)
  return async () => {
    let done = 0
    if (progress === 'output') {
      for (const [, end] of await admin.listOffsets(outputs, 'latest', 'read_uncommitted')) done += end
    } else {
      const committed = await admin.committedOffsets(application, inputs, { requireStable: false })
      for (const [, { offset }] of committed) done += offset
    }
    return done
  }
}

interface Watched {
  readonly startMs: number
  readonly records: number
  readonly samples: Sample[]
  readonly count: () => Promise<number>
}

/** Looks until everything is done. Returns the most memory that was in use. */
async function watch(stage: Stage, running: ContenderProcess, watched: Watched): Promise<number> {
  const { startMs, records, samples, count } = watched
  let last = 0
  for (;;) {
    const done = await count()
    const atMs = performance.now() - startMs
    const { cpuSeconds, peakBytes } = await running.usage()
    if (done > last) {
      last = done
      const brokerCpuSeconds = cpuSecondsOfAll(stage.brokerPids)
      samples.push({ atMs, done, clientCpuSeconds: cpuSeconds, brokerCpuSeconds })
    }
    if (done >= records) return peakBytes
    if (atMs > RUN_TIMEOUT_MS) {
      throw new Error(
        `only ${String(done)} of ${String(records)} records were done in time:\n${await running.logEnd()}`,
      )
    }
    await pause(POLL_MS)
  }
}
