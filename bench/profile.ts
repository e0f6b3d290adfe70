import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Contender } from './contenders/contender.ts'

const PROFILE = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      children: z.array(z.number()).optional(),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
})

/** A processor profile as V8 writes it. */
export type Profile = z.infer<typeof PROFILE>

/** A part of a record's way, and how much of the busy time went into it. */
export interface Step {
  readonly name: string
  /** Of 1. */
  readonly share: number
  /** Where in it, the most expensive functions first. */
  readonly functions: readonly { readonly name: string; readonly share: number }[]
}

/** Parts of a record's way by where the code lies; the first that fits counts. */
const STEPS: readonly { readonly name: string; readonly fits: RegExp }[] = [
  { name: 'garbage collection', fits: /^\(garbage collector\)/ },
  {
    name: 'task: queues, savepoints, positions',
    fits: /engine\/(?:stream-task|active-task|partition-queue|record-collector|producer-collector|task-variables|task-executor)/,
  },
  { name: 'operators, serdes, expressions', fits: /src\/(?:operators|serdes|expressions|topology)\// },
  { name: 'stores and undo log', fits: /src\/stores\// },
  { name: 'hash the key', fits: /murmur2/ },
  {
    name: 'encode: append to batches',
    fits: /record-batch-writer|sealed-batch|varint\.js write|int64\.js write|producer\/(?:accumulator|partition-buffer|batch-pool|outgoing-batch)/,
  },
  { name: 'decode: walk fetched batches', fits: /records\/(?:record-cursor|batch-reader|abort-filter|varint|int64)/ },
  { name: 'checksums and compression', fits: /kafka\/records\/|node_modules\/(?:@node-rs|lz4-napi|snappy)/ },
  { name: 'send and acknowledge', fits: /src\/kafka\/producer\// },
  { name: 'fetch answers', fits: /src\/kafka\/fetcher\// },
  { name: 'connections and codec', fits: /src\/kafka\// },
  { name: 'loop, commit, group', fits: /src\/(?:engine|model)\// },
  {
    name: 'load and start',
    fits: /^src\/|^node_modules|^node:internal\/(?:modules|vm|bootstrap)|compileFunction|wrapSafe/,
  },
  { name: 'sockets and event loop (Node, kernel)', fits: /^/ },
]

const IDLE = '(idle)'
const FUNCTIONS_MAX = 6
const SAMPLING_MICROS = 200

/** Lets a contender of Node write profiles into a folder when it ends. */
export function profiled(contender: Contender, profileFolder: string): Contender {
  return {
    ...contender,
    launch: async (scenario, places, folder) => {
      const launch = await contender.launch(scenario, places, folder)
      const flags = ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-interval=${String(SAMPLING_MICROS)}`]
      return { ...launch, args: [...flags, ...launch.args] }
    },
  }
}

/** Copies the profile of the busiest thread out of a folder. @throws when there is none */
export async function keepBusiest(profileFolder: string, to: string): Promise<Profile> {
  const names = await readdir(profileFolder)
  const texts = await Promise.all(names.map(name => readFile(join(profileFolder, name), 'utf8')))
  const profiles = texts.map(text => ({ text, profile: PROFILE.parse(JSON.parse(text)) }))
  const [busiest] = profiles.toSorted((a, b) => busyMicros(b.profile) - busyMicros(a.profile))
  if (busiest === undefined) throw new Error('the process has left no profile')
  await writeFile(to, busiest.text)
  return busiest.profile
}

function busyMicros({ nodes, samples, timeDeltas }: Profile): number {
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === IDLE).map(({ id }) => id))
  return samples.reduce((sum, id, at) => (idle.has(id) ? sum : sum + (timeDeltas[at] ?? 0)), 0)
}

/** Where the busy time of the second half went, by steps of a record's way, the largest first; waiting does not count. */
export function stepsOf(profile: Profile): readonly Step[] {
  const byNode = microsByNode(profile)
  const steps = new Map<string, Map<string, number>>()
  let busy = 0
  for (const { id, callFrame } of profile.nodes) {
    const micros = byNode.get(id) ?? 0
    if (micros === 0 || callFrame.functionName === IDLE) continue
    busy += micros
    const place = placeOf(callFrame)
    const step = STEPS.find(({ fits }) => fits.test(place))?.name ?? ''
    const functions = steps.get(step) ?? new Map<string, number>()
    functions.set(place, (functions.get(place) ?? 0) + micros)
    steps.set(step, functions)
  }
  return [...steps]
    .map(([name, functions]) => ({
      name,
      share: [...functions.values()].reduce((sum, micros) => sum + micros, 0) / busy,
      functions: [...functions]
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, FUNCTIONS_MAX)
        .map(([place, micros]) => ({ name: place, share: micros / busy })),
    }))
    .toSorted((a, b) => b.share - a.share)
}

/** Self time of the second half of the busy time: the first one is the compiler's. */
function microsByNode(profile: Profile): ReadonlyMap<number, number> {
  const idle = new Set(profile.nodes.filter(({ callFrame }) => callFrame.functionName === IDLE).map(({ id }) => id))
  const half = busyMicros(profile) / 2
  const micros = new Map<number, number>()
  let busy = 0
  for (const [at, id] of profile.samples.entries()) {
    if (idle.has(id)) continue
    const delta = profile.timeDeltas[at] ?? 0
    busy += delta
    if (busy > half) micros.set(id, (micros.get(id) ?? 0) + delta)
  }
  return micros
}

/** The file below the project, where there is one, and the function. */
function placeOf({ functionName, url }: Profile['nodes'][number]['callFrame']): string {
  if (url === '') return functionName
  const from = Math.max(0, url.lastIndexOf('src/'), url.lastIndexOf('node_modules/'))
  return `${url.slice(from)} ${functionName === '' ? 'anonymous' : functionName}`
}
