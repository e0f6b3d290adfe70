import { expect } from 'chai'
import fc from 'fast-check'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bytes } from '../../../src/serdes/text.ts'
import { loadApplication, type LoadedYaml } from '../../../src/config/load-application.ts'
import type { MillraceConfig } from '../../../src/config/millrace-config.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import { runYamlTests } from '../../../src/testing/yaml-tests.ts'
import type { Topology } from '../../../src/topology/topology.ts'
import { EXAMPLES, type ExampleRecord } from './example-inputs.ts'

const compiled = fileURLToPath(new URL('../../../', import.meta.url))

/** What a program of the examples exports. */
interface Program {
  readonly default: Topology
  readonly config: MillraceConfig
}

function namesIn(folder: string, ending: string): string[] {
  return readdirSync(folder)
    .filter(name => name.endsWith(ending))
    .map(name => basename(name, ending))
}

/** What an application wrote to each topic, and what it dropped. */
function run(driver: TestDriver, inputs: readonly ExampleRecord[], outputs: readonly string[]): unknown {
  const both = { key: bytes, value: bytes }
  for (const { topic, key, value, timestamp } of inputs) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const held = value === undefined ? null : Buffer.from(text)
    driver.input(topic, both).pipeRaw(Buffer.from(key), held, timestamp)
  }
  const written = outputs.map(topic => {
    const records = driver.output(topic, both).readAll()
    return records.map(({ key, value, timestamp, headers }) => ({
      topic,
      key: shown(key),
      value: shown(value),
      timestamp,
      headers: [...headers].map(([name, content]) => [name, shown(content)]),
    }))
  })
  return { written, dropped: [...driver.dropped] }
}

function shown(content: Uint8Array | null): string | null {
  return content === null ? null : Buffer.from(content).toString('latin1')
}

function hasOutput(outcome: unknown): boolean {
  return /"topic":/.test(JSON.stringify(outcome))
}

describe('the example applications', () => {
  let folder = ''

  // As in a user's project: the examples, and millrace among its packages.
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-examples-'))
    const installed = join(folder, 'node_modules', 'millrace')
    mkdirSync(installed, { recursive: true })
    symlinkSync(join(compiled, 'src'), join(installed, 'src'))
    const exports = { '.': './src/index.js', './testing': './src/testing/index.js' }
    writeFileSync(join(installed, 'package.json'), JSON.stringify({ name: 'millrace', type: 'module', exports }))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    cpSync('config', join(folder, 'config'), { recursive: true })
    cpSync(join(compiled, 'examples'), join(folder, 'examples'), { recursive: true })
  })

  after(() => {
    rmSync(folder, { recursive: true })
  })

  async function yamlOf(path: string): Promise<LoadedYaml> {
    return await loadApplication([join(folder, path)], { environment: {} })
  }

  it('are all here, in YAML and in TypeScript', () => {
    expect(namesIn('config/examples', '.yaml')).to.have.members(Object.keys(EXAMPLES))
    expect(namesIn('examples', '.ts')).to.have.members(Object.keys(EXAMPLES))
  })

  const files = ['order-totals.yaml', ...Object.keys(EXAMPLES).map(name => `examples/${name}.yaml`)]
  for (const file of files) {
    it(`config/${file} loads without warnings and passes its own tests`, async () => {
      const { warnings, tests } = await yamlOf(`config/${file}`)
      expect(warnings).to.deep.equal([])
      expect(tests).not.to.deep.equal([])
      const results = await runYamlTests([join(folder, 'config', file)], { environment: {} })
      expect(
        results.flatMap(({ name, differences }) => differences.map(difference => `${name}: ${difference}`)),
      ).to.deep.equal([])
    })
  }

  for (const name of Object.keys(EXAMPLES)) {
    it(`examples/${name}.ts is configured as config/examples/${name}.yaml is`, async () => {
      const program = (await import(pathToFileURL(join(folder, 'examples', `${name}.js`)).href)) as Program
      const { config } = await yamlOf(`config/examples/${name}.yaml`)
      expect(program.config.streams).to.deep.equal(config.streams)
      const servers = process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? config.kafka['bootstrap.servers']
      expect(program.config.kafka).to.deep.equal({ ...config.kafka, 'bootstrap.servers': servers })
    })
  }

  for (const [name, { inputs, outputs }] of Object.entries(EXAMPLES)) {
    it(`examples/${name}.ts writes what config/examples/${name}.yaml writes, to the byte`, async function () {
      this.timeout(30_000)
      const program = (await import(pathToFileURL(join(folder, 'examples', `${name}.js`)).href)) as Program
      const { topology, config } = await yamlOf(`config/examples/${name}.yaml`)
      let runsWithOutput = 0
      fc.assert(
        fc.property(fc.array(inputs, { minLength: 20, maxLength: 60 }), all => {
          using typed = new TestDriver(program.default)
          using written = new TestDriver(topology, { streams: config.streams })
          const expected = run(written, all, outputs)
          expect(run(typed, all, outputs)).to.deep.equal(expected)
          if (hasOutput(expected)) runsWithOutput += 1
        }),
        { numRuns: 40 },
      )
      expect(runsWithOutput).to.be.greaterThan(20)
    })
  }
})
