import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from '../src/local-kafka/package-root.ts'
import type { ProfileReport } from './profile-run.ts'
import type { BenchResult } from './result.ts'

/** The result that docs/benchmarks.md shows, and that later runs are compared with. */
export const REFERENCE_FILE = join(packageRoot(), 'bench/results/reference.json')

/** The profiles that docs/performance.md shows. */
export const PROFILES_FILE = join(packageRoot(), 'bench/results/profiles.json')

const CONTENDER = z.enum([
  'millrace',
  'millrace-tuned',
  'millrace-at-least-once',
  'streams',
  'streams-tuned',
  'streams-rocksdb',
  'kafkajs',
  'jvm',
  'raw',
])
const SCENARIO = z.object({
  id: z.string(),
  suite: z.enum(['workloads', 'variants', 'latency', 'growth', 'cluster']),
  workload: z.enum(['copy', 'json', 'count', 'windowed', 'join']),
  commitIntervalMs: z.number(),
  threads: z.number(),
  guarantee: z.enum(['exactly_once_v2', 'at_least_once']),
  partitions: z.number(),
  valueBytes: z.number(),
  keys: z.number(),
  operators: z.number(),
  records: z.number(),
  brokers: z.union([z.literal(1), z.literal(3)]),
  contenders: z.array(CONTENDER),
})
// What a short run could not measure is NaN, which JSON writes as null.
const FIGURE = z
  .number()
  .nullable()
  .transform(value => value ?? Number.NaN)
const PACE = z.object({ recordsPerSecond: FIGURE, clientCpuMicros: FIGURE, brokerCpuMicros: FIGURE })
const MEASUREMENT = z.object({
  records: z.number(),
  outputs: z.number(),
  seconds: z.number(),
  whole: PACE,
  steady: PACE,
  peakBytes: z.number(),
})
const LATENCY = z.object({
  records: z.number(),
  p50: z.number(),
  p90: z.number(),
  p99: z.number(),
  p999: z.number(),
  max: z.number(),
})
const RATIO = FIGURE.optional()
const RESULT = z.object({
  format: z.literal(1),
  date: z.string(),
  commit: z.string(),
  busyBefore: FIGURE,
  machine: z.object({
    processor: z.string(),
    processors: z.number(),
    memoryGigabytes: z.number(),
    system: z.string(),
    node: z.string(),
    java: z.string(),
    kafka: z.string(),
  }),
  throughput: z.array(
    z.object({
      scenario: SCENARIO,
      contenders: z.array(z.object({ contender: CONTENDER, rounds: z.array(MEASUREMENT) })),
    }),
  ),
  latency: z.array(
    z.object({ scenario: SCENARIO, contenders: z.array(z.object({ contender: CONTENDER, rounds: z.array(LATENCY) })) }),
  ),
  ratios: z.record(z.string(), z.object({ throughput: RATIO, cpu: RATIO, memory: RATIO, latencyP99: RATIO })),
})

const SHARE = { name: z.string(), share: z.number() }
const PROFILES = z.array(
  z.object({
    id: z.string(),
    date: z.string(),
    commit: z.string(),
    busyBefore: FIGURE,
    records: z.number(),
    micros: FIGURE,
    steps: z.array(z.object({ ...SHARE, functions: z.array(z.object(SHARE)) })),
  }),
)

/** Reads a result from its JSON. @throws when it is none */
export function parseResult(text: string): BenchResult {
  return RESULT.parse(JSON.parse(text))
}

/** Reads profiles from their JSON. @throws when it holds none */
export function parseProfiles(text: string): readonly ProfileReport[] {
  return PROFILES.parse(JSON.parse(text))
}

/** The kept result; undefined when there is none yet. */
export async function readReference(): Promise<BenchResult | undefined> {
  const text = await textOf(REFERENCE_FILE)
  return text === undefined ? undefined : parseResult(text)
}

/** The kept profiles; none when there are none yet. */
export async function readProfiles(): Promise<readonly ProfileReport[]> {
  return parseProfiles((await textOf(PROFILES_FILE)) ?? '[]')
}

async function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
}

/** Keeps a result. */
export function writeReference(result: BenchResult): Promise<void> {
  return keep(REFERENCE_FILE, result)
}

/** Keeps profiles. */
export function writeProfiles(reports: readonly ProfileReport[]): Promise<void> {
  return keep(PROFILES_FILE, reports)
}

async function keep(file: string, content: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify(content, rounded, 1)}\n`)
}

/** Four digits say all that a measurement knows. */
function rounded(_name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(4))
}
