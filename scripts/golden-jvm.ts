/**
 * Lets Kafka Streams' own test driver run random inputs and compares ours with what it wrote: `npm run golden:jvm -- --seeds 4-9`.
 * First it proves that its topologies are those of the golden files, by running their inputs again.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const USAGE = `Usage: npm run golden:jvm -- [--seeds 4-9] [--cases REGEXP] [--events N] [--vary] [--no-replay]

  --seeds      first and last seed; up to 3 the inputs are like those of the golden files, beyond wilder (4-4)
  --cases      whole names (all but those in another configuration, extra-cached-of-… and the like)
  --events     records per file (100)
  --vary       other parameters than the listed ones, drawn by the seed
  --no-replay  leave out the proof on the golden files`
const POM = 'test/golden/jvm/pom.xml'
const FOLDER = 'build-golden-jvm'
const FILES = join(FOLDER, 'files')
const TEST = fileURLToPath(new URL('../test/golden/semantics.test.js', import.meta.url))
const GOLDEN = 'test/golden/semantics'
const JAVA_FLAGS = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Dorg.slf4j.simpleLogger.defaultLogLevel=off']

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '4-4' },
    cases: { type: 'string', default: '(?!extra-.*-of-).*' },
    events: { type: 'string', default: '100' },
    vary: { type: 'boolean', default: false },
    'no-replay': { type: 'boolean', default: false },
  },
})
const [first, last = first] = values.seeds.split('-')
if (
  first === undefined ||
  last === undefined ||
  !/^\d+-\d+$/.test(`${first}-${last}`) ||
  !/^\d+$/.test(values.events)
) {
  console.error(USAGE)
  process.exit(2)
}

/** Runs a command to its end and ends this process with it when it fails. */
async function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  await once(child, 'exit')
  if (child.exitCode !== 0) process.exit(child.exitCode ?? 1)
}

/** With TMPDIR on a disk in memory RocksDB's many small files take a tenth of the time. */
async function java(args: readonly string[]): Promise<void> {
  const classPath = [join(FOLDER, 'classes'), join(FOLDER, 'libs', '*')].join(delimiter)
  await run('java', [...JAVA_FLAGS, `-Djava.io.tmpdir=${tmpdir()}`, '-cp', classPath, 'millrace.golden.Main', ...args])
}

await mkdir(FOLDER, { recursive: true })
const goals = ['compile', 'dependency:copy-dependencies', `-DoutputDirectory=${join(process.cwd(), FOLDER, 'libs')}`]
await run('mvn', ['-q', '-B', '-ntp', '-f', POM, ...goals])
if (!values['no-replay']) await java(['replay', GOLDEN, values.cases])
await rm(FILES, { recursive: true, force: true })
await java(['generate', FILES, values.cases, first, last, values.events, ...(values.vary ? ['vary'] : [])])
const mocha = [
  'node_modules/mocha/bin/mocha.js',
  '--no-config',
  '--node-option',
  'enable-source-maps',
  '--timeout',
  '60000',
]
await run(process.execPath, [...mocha, '--reporter', 'dot', TEST], {
  GOLDEN_DIR: FILES,
})
