import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSource, type LoadedApplication, type WorkerSource } from '../../../src/engine/application-source.ts'
import { planApplication } from '../../../src/topology/plan-application.ts'

const APPLICATION = `
streams: { application.id: app, num.stream.threads: "\${THREADS:-2}" }
kafka: { bootstrap.servers: "127.0.0.1:9092" }
sources: { orders: { topic: orders, key: string, value: json } }
steps:
  paid: { from: orders, filter: value.status == "paid" }
  scored: { from: paid, value: { module: "./steps.js#score" }, serdes: { value: json } }
  counts: { from: scored, count: {} }
sinks: { out: { from: counts, topic: counts } }
`

describe('what a worker takes the application from', () => {
  let folder = ''
  let file = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-source-'))
    file = join(folder, 'app.yaml')
    writeFileSync(file, APPLICATION)
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'steps.js'), 'export const score = value => ({ ...value, score: 1 })\n')
  })
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  it('is the application of the main thread, though its file has changed since', async () => {
    const loaded = await loadSource({ kind: 'yaml', files: [file], overrides: ['streams.commit.interval.ms=250'] })
    writeFileSync(file, 'sources: {}')
    const inWorker = await loadSource(posted(loaded))
    expect(described(inWorker)).to.equal(described(loaded))
    expect(inWorker.config).to.deep.equal(loaded.config)
    expect(inWorker.config).to.include({ applicationId: 'app', threads: 2 })
  })
})

/** As it comes out of the post. */
function posted({ forWorkers }: LoadedApplication): WorkerSource {
  if (forWorkers === undefined) throw new Error('nothing to post')
  return structuredClone(forWorkers)
}

function described({ topology, config }: LoadedApplication): string {
  return planApplication(topology, config.streamsProperties).describe().toString()
}
