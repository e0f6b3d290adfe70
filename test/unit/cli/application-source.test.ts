import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applicationSource } from '../../../src/cli/application-source.ts'
import { UsageError } from '../../../src/cli/usage-error.ts'
import { rejectionOf } from '../../support/rejection.ts'

describe('source of an application', () => {
  let folder = ''
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-source-'))
  })

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  it('is YAML for every other file, with the values that win', async () => {
    const place = { files: ['a.yaml', 'b.yml'], overrides: ['streams.x=1'] }
    expect(await applicationSource(place)).to.deep.equal({ kind: 'yaml', ...place })
  })

  it('is a module that brings its own configuration', async () => {
    const path = await file('app.mjs', 'export const config = { streams: {}, kafka: {} }\nexport default 1')
    const source = await applicationSource({ files: [path], overrides: [] })
    expect(source).to.have.property('kind', 'module')
    expect(source).to.have.deep.property('config', { streams: {}, kafka: {} })
  })

  it('is refused when a module has no configuration, cannot be imported, or stands among other files', async () => {
    const without = await file('without.mjs', 'export default 1')
    const broken = await file('broken.mjs', 'export default (')
    for (const path of [without, broken]) {
      const failure = await rejectionOf(applicationSource({ files: [path], overrides: [] }))
      expect(failure).to.have.property('code', 'MODULE_NOT_LOADED')
      expect(failure).to.have.property('message').that.includes(path)
    }
    const mixed = await applicationSource({ files: ['a.yaml', without], overrides: [] }).catch(
      (error: unknown) => error,
    )
    expect(mixed).to.be.instanceOf(UsageError)
  })
})
