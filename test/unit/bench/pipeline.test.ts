import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../../../bench/options.ts'
import { pipelineOf } from '../../../bench/pipeline.ts'
import { planOf } from '../../../bench/suites.ts'
import { loadApplication } from '../../../src/config/load-application.ts'

describe('pipelines of the benchmark', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-pipelines-'))
  })
  after(() => {
    rmSync(folder, { recursive: true })
  })

  const places = {
    bootstrapServers: '127.0.0.1:9092',
    cli: '',
    application: 'bench',
    input: 'in',
    table: 'rows',
    output: 'out',
    stateFolder: '/nowhere',
  }
  for (const scenario of planOf(readOptions(['--suites', 'all'])).throughput) {
    for (const isTuned of [false, true]) {
      it(`are an application without warnings: ${scenario.id}${isTuned ? ', tuned' : ''}`, async () => {
        const file = join(folder, 'app.yaml')
        writeFileSync(file, pipelineOf(scenario, places, isTuned))
        const { warnings } = await loadApplication([file], { environment: {} })
        expect(warnings).to.deep.equal([])
      })
    }
  }
})
