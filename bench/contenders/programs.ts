import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Places } from '../pipeline.ts'
import type { Scenario } from '../scenario.ts'
import type { Contender, Launch } from './contender.ts'

const SETTINGS = z.object({
  bootstrapServers: z.string(),
  application: z.string(),
  input: z.string(),
  output: z.string(),
  workload: z.string(),
  commitIntervalMs: z.number(),
})

/** What the programs in `bench/programs` find in their environment. */
export type ProgramSettings = Readonly<z.infer<typeof SETTINGS>>

const VARIABLE = 'MILLRACE_BENCH_PROGRAM'

/** The settings of the program that runs in this process. */
export function programSettings(): ProgramSettings {
  return SETTINGS.parse(JSON.parse(process.env[VARIABLE] ?? '{}'))
}

function launcher(program: string) {
  return ({ workload, commitIntervalMs }: Scenario, places: Places): Promise<Launch> => {
    const { bootstrapServers, application, input, output } = places
    const settings: ProgramSettings = { bootstrapServers, application, input, output, workload, commitIntervalMs }
    return Promise.resolve({
      command: process.execPath,
      args: [fileURLToPath(new URL(`../programs/${program}.js`, import.meta.url))],
      env: { [VARIABLE]: JSON.stringify(settings) },
    })
  }
}

/** The loop that kafkajs' documentation shows: a transaction per batch. */
export const kafkajs: Contender = {
  name: 'kafkajs',
  title: 'plain kafkajs loop',
  settings: 'kafkajs 2.2.4, `eachBatch`, one transaction per batch',
  workloads: ['copy', 'json'],
  progress: 'group',
  launch: launcher('kafkajs-loop'),
}

/** Our own client, and nothing between its two halves. */
export const raw: Contender = {
  name: 'raw',
  title: 'raw limit',
  settings: "millrace's own fetch and produce of the same bytes: no engine, no group, no transaction",
  workloads: ['copy'],
  progress: 'output',
  launch: launcher('raw-loop'),
}
