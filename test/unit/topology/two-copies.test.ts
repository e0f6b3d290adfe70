import { expect } from 'chai'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type * as millrace from '../../../src/index.ts'
import { InvariantError } from '../../../src/model/assert.ts'
import { MillraceError } from '../../../src/model/errors.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import { windowedFormOf } from '../../../src/serdes/windowed.ts'
import { streams } from '../../../src/topology/streams.ts'
import { isTopology } from '../../../src/topology/topology.ts'
import { planApplication } from '../../../src/topology/plan-application.ts'
import { VERSION } from '../../../src/model/version.ts'

/** A second copy of the compiled library, as an application has it that is run by a command line installed elsewhere. */
async function install(directory: string, version = VERSION): Promise<typeof millrace> {
  await cp(fileURLToPath(new URL('../../../src', import.meta.url)), join(directory, 'src'), { recursive: true })
  await writeFile(join(directory, 'package.json'), '{"type":"module"}')
  await symlink(join(process.cwd(), 'node_modules'), join(directory, 'node_modules'))
  const versionFile = join(directory, 'src', 'model', 'version.js')
  await writeFile(versionFile, (await readFile(versionFile, 'utf8')).replace(VERSION, version))
  return (await import(pathToFileURL(join(directory, 'src', 'index.js')).href)) as typeof millrace
}

describe('a topology built by another copy of millrace', function () {
  this.timeout(20_000)
  let directory: string

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'millrace-copy-'))
  })

  afterEach(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  it('runs, with its stores and its errors, when the version is the same', async () => {
    const copy = await install(directory)
    const topology = copy.streams(builder => {
      builder
        .stream('in', { key: copy.string, value: copy.long })
        .groupByKey()
        .count({ store: 'counts' })
        .toStream()
        .to('out', { key: copy.string, value: copy.long })
    })
    expect(isTopology(topology)).to.equal(true)

    using driver = new TestDriver(topology, { errors: { deserialization: 'skip', processing: 'stop' } })
    const input = driver.input('in', { key: copy.bytes, value: copy.bytes })
    input.pipe(Buffer.from('a'), Buffer.alloc(8))
    // The serde of the copy refuses it with the copy's error: a matter of deserialization here too.
    input.pipe(Buffer.from('a'), Buffer.from('no long'))
    input.pipe(Buffer.from('a'), Buffer.alloc(8))
    const counts = driver.output('out', { key: copy.string, value: copy.long }).readAll()
    expect(counts.map(({ value }) => value)).to.deep.equal([1, 2])
  })

  it('lends its serdes and stores to a topology of ours', async () => {
    const copy = await install(directory)
    const seen = copy.processor({
      name: 'seen',
      input: { key: copy.nullable(copy.string), value: copy.string },
      stores: { keys: copy.keyValueStore('keys', { key: copy.string, value: copy.string }) },
      value: copy.string,
      init: ({ stores: { keys }, forward }) => {
        return ({ key, value }) => {
          keys.put(key ?? 'none', value)
          forward({ key, value: [...keys.all()].map(([each]) => each).join() })
        }
      },
    })
    const topology = streams(builder => {
      builder
        .stream('in', { key: copy.nullable(copy.string), value: copy.string })
        .process(seen)
        .to('out')
    })
    using driver = new TestDriver(topology)
    const input = driver.input('in', { key: copy.nullable(copy.string), value: copy.string })
    for (const key of ['a', null, 'b']) input.pipe(key, 'v')
    const values = driver.output('out', { key: copy.nullable(copy.string), value: copy.string }).readAll()
    expect(values.map(({ value }) => value)).to.deep.equal(['a', 'a,none', 'a,b,none'])
  })

  it('has windowed keys whose windows do not choose the partition here either', async () => {
    const copy = await install(directory)
    for (const serde of [copy.timeWindowed(copy.string, '1m'), copy.sessionWindowed(copy.string)]) {
      expect(windowedFormOf(serde)?.inner, serde.name).to.equal(copy.string)
    }
  })

  it('has errors that are told apart from others as ours are', async () => {
    const copy = await install(directory)
    const thrown = new copy.MillraceError('USAGE')
    expect(thrown.constructor).not.to.equal(MillraceError)
    expect(thrown).to.be.instanceOf(MillraceError)
    expect(thrown).not.to.be.instanceOf(InvariantError)
    expect(new Error('no')).not.to.be.instanceOf(MillraceError)
  })

  it('is refused with both versions when they differ', async () => {
    const copy = await install(directory, '0.0.1')
    const topology = copy.streams(builder => builder.stream('in').to('out'))
    expect(isTopology(topology)).to.equal(true)
    expect(() => planApplication(topology, { 'application.id': 'app' }))
      .to.throw(MillraceError, `built by millrace 0.0.1, and millrace ${VERSION}`)
      .with.property('code', 'USAGE')
  })
})
