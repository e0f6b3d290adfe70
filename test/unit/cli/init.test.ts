import { expect } from 'chai'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { CommandCapture } from '../../support/command-capture.ts'

const init = (...argv: string[]): Promise<number> =>
  runCommandLine(['init', ...argv], { version: '0', commands: COMMANDS }, new CommandCapture())

function imageOf(compose: unknown, service: string): string {
  return parsed.parse(compose).services[service]?.image ?? ''
}

const parsed = z.object({ services: z.record(z.string(), z.object({ image: z.string() })) })

describe('init', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-init-'))
  })

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  it('makes an application with a test, a compose file and a README', async () => {
    expect(await init(folder, '--name', 'clicks')).to.equal(0)
    expect((await readdir(folder)).toSorted()).to.deep.equal(['README.md', 'clicks.yaml', 'docker-compose.yml'])
    const application: unknown = parse(await readFile(join(folder, 'clicks.yaml'), 'utf8'))
    expect(application).to.have.nested.property('streams.application\\.id', 'clicks')
    expect(application).to.have.property('tests').that.has.length(1)
    const compose: unknown = parse(await readFile(join(folder, 'docker-compose.yml'), 'utf8'))
    expect(compose).to.have.property('services').that.has.all.keys('kafka', 'topics', 'clicks')
    // The image of the application is built first, as the README says, and never taken from a registry.
    expect(compose).to.have.nested.property('services.clicks.pull_policy', 'never')
    expect(await readFile(join(folder, 'README.md'), 'utf8')).to.contain('docker build --tag millrace')
    const own: unknown = parse(await readFile('docker-compose.yml', 'utf8'))
    for (const service of ['kafka', 'topics']) {
      expect(imageOf(compose, service))
        .to.match(/^apache\/kafka:/)
        .and.equal(imageOf(own, service))
    }
  })

  it('writes over no file', async () => {
    await writeFile(join(folder, 'clicks.yaml'), 'mine')
    expect(await init(folder, '--name', 'clicks')).not.to.equal(0)
    expect(await readFile(join(folder, 'clicks.yaml'), 'utf8')).to.equal('mine')
  })

  it('refuses a name that cannot be an application id', async () => {
    expect(await init(folder, '--name', 'a b/c')).to.equal(2)
    expect(await readdir(folder)).to.deep.equal([])
  })
})
