import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import { scaffoldFiles } from '../../src/cli/scaffold.ts'

const Compose = z.object({ services: z.record(z.string(), z.object({ depends_on: z.unknown().optional() }).loose()) })

/** What the lines `COPY` of a Dockerfile take from the folder that is built. */
function copied(dockerfile: string): string[] {
  return [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, paths = '']) =>
    paths.split(/\s+/u).slice(0, -1),
  )
}

describe('container', () => {
  it('copies only what is there and not ignored', () => {
    const sources = copied(readFileSync('Dockerfile', 'utf8'))
    const ignore = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'))
    expect(sources).to.include.members(['package.json', 'src', 'config'])
    // The first line ignores everything, and each further one takes a name out again.
    expect(ignore[0]).to.equal('*')
    const kept = ignore.slice(1).map(line => line.replace(/^!/u, ''))
    expect(ignore.slice(1)).to.deep.equal(kept.map(name => `!${name}`))
    for (const source of sources) {
      expect(existsSync(source), `${source} is there`).to.equal(true)
      expect(kept, source).to.include(source)
    }
  })

  for (const [name, text] of [
    ['the compose file', readFileSync('docker-compose.yml', 'utf8')],
    ['the compose file of a new application', scaffoldFiles('words')['docker-compose.yml'] ?? ''],
  ] as const) {
    it(`reads ${name}, in which a service waits for services that are there`, () => {
      const { services } = Compose.parse(parse(text))
      expect(services).to.have.property('kafka')
      for (const { depends_on: awaited = {} } of Object.values(services)) {
        const names = Array.isArray(awaited) ? awaited : Object.keys(z.record(z.string(), z.unknown()).parse(awaited))
        for (const service of names) expect(services).to.have.property(String(service))
      }
    })
  }
})
