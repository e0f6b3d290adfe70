import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import * as library from '../../../src/index.ts'
import { VERSION } from '../../../src/model/version.ts'
import * as testing from '../../../src/testing/index.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { runNode } from '../../support/command-run.ts'
import { eventually } from '../../support/condition.ts'
import { readTopicInProcess } from '../../support/kafka-reader.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import { MillraceProcess } from '../../support/millrace-process.ts'
import { connectCluster, createTopic } from '../../support/test-cluster.ts'

const PARTITIONS = 4
const RECORDS = 400

/** The modules of the package are put together into a few files: what is run here is those files, elsewhere than they were made. */
describe('the package as it is published', function () {
  this.timeout(180_000)
  const kafka = useBroker('tv2')
  let folder = ''
  const file = (name: string): string => join(folder, 'dist', name)

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-package-'))
    for (const name of ['src', 'config', 'package.json', 'tsconfig.json', 'tsconfig.build.json']) {
      await cp(resolve(name), join(folder, name), { recursive: true })
    }
    await symlink(resolve('node_modules'), join(folder, 'node_modules'))
    await promisify(execFile)('npm', ['run', '-s', 'build:bundle'], { cwd: folder })
  })

  after(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  it('exports what the sources export', async () => {
    expect(await exportsOf(file('index.js'))).to.deep.equal(Object.keys(library).toSorted())
    expect(await exportsOf(file('testing/index.js'))).to.deep.equal(Object.keys(testing).toSorted())
  })

  it('knows its version, and runs the tests of the application that is shipped', async () => {
    const cli = file('cli/main.js')
    expect((await runNode(cli, ['--version'])).out.trim()).to.equal(VERSION)
    const run = await runNode(cli, ['test', join(folder, 'config', 'order-totals.yaml')])
    expect(run.code, run.err).to.equal(0)
    expect((await runNode(cli, ['validate', join(folder, 'none.yaml')])).code).to.equal(78)
  })

  it('counts on threads of its own, from a service to which nothing but its files is known', async () => {
    const servers = kafka().bootstrapServers
    const { cluster, admin } = await connectCluster(servers)
    const [input, output] = [uniqueName('in'), uniqueName('out')]
    for (const topic of [input, output]) await createTopic(admin, topic, { partitions: PARTITIONS })
    const yaml = [
      'streams:',
      `  application.id: ${uniqueName('package')}`,
      '  num.stream.threads: 2',
      '  commit.interval.ms: 50',
      'kafka:',
      `  bootstrap.servers: "${servers}"`,
      'sources:',
      `  words: { topic: ${input}, key: string, value: string }`,
      'steps:',
      '  counts: { from: words, count: {} }',
      'sinks:',
      `  out: { from: counts, topic: ${output} }`,
      'http: { port: 0 }',
      'logging: { format: json }',
    ].join('\n')
    const service = await MillraceProcess.start({ yaml, cli: file('cli/main.js') })
    try {
      const writer = await KafkaWriter.open(servers)
      const records = Array.from({ length: RECORDS }, (_, at) => ({ key: `k${String(at % 20)}`, value: 'w' }))
      await writer.write(input, records)
      const counts = async (): Promise<number[]> =>
        (await readTopicInProcess(servers, output)).map(({ value }) => Number(value?.readBigInt64BE()))
      await eventually('all are counted', async () => (await counts()).length >= RECORDS, 60_000)
      const expected = records.map((_, at) => Math.floor(at / 20) + 1)
      expect((await counts()).toSorted((a, b) => a - b)).to.deep.equal(expected.toSorted((a, b) => a - b))
      expect((await service.terminate()).code).to.equal(0)
    } finally {
      await service.dispose()
      await cluster.close()
    }
  })
})

async function exportsOf(file: string): Promise<string[]> {
  return Object.keys((await import(pathToFileURL(file).href)) as object).toSorted()
}
