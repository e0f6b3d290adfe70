import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipelineOf, type Places } from '../pipeline.ts'
import type { Scenario } from '../scenario.ts'
import type { Contender, Launch } from './contender.ts'

const WORKLOADS = ['copy', 'json', 'count', 'windowed', 'join'] as const

/** What docs/tuning.md says of the compiler. */
const TUNED_NODE = ['--max-inlined-bytecode-size-cumulative=4000']

function launcher(isTuned: boolean) {
  return async (scenario: Scenario, places: Places, folder: string): Promise<Launch> => {
    const file = join(folder, 'app.yaml')
    await writeFile(file, pipelineOf(scenario, places, isTuned))
    return { command: process.execPath, args: [...(isTuned ? TUNED_NODE : []), places.cli, 'run', file] }
  }
}

/** The command line of the built package with the YAML of the workload, started as a user would. */
export const millrace: Contender = {
  name: 'millrace',
  title: 'millrace',
  settings: '`millrace run app.yaml`, defaults',
  workloads: WORKLOADS,
  progress: 'group',
  launch: launcher(false),
}

/** As `millrace`, with what one would tune for throughput. */
export const millraceTuned: Contender = {
  ...millrace,
  name: 'millrace-tuned',
  title: 'millrace, tuned',
  settings:
    '`max.partition.fetch.bytes` 2 MiB, `batch.size` 512 KiB, `topology.optimization: all`, `node --max-inlined-bytecode-size-cumulative=4000`',
  launch: launcher(true),
}

/** As `millrace`, with the weaker guarantee: what exactly once costs, in the same turns. */
export const millraceAtLeastOnce: Contender = {
  ...millrace,
  name: 'millrace-at-least-once',
  title: 'millrace, at least once',
  settings: 'as above with its defaults, and `processing.guarantee: at_least_once`',
  workloads: ['copy', 'count'],
  launch: (scenario, places, folder) => launcher(false)({ ...scenario, guarantee: 'at_least_once' }, places, folder),
}
