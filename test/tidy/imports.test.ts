import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'

/** What each folder of src/ may import beside itself (docs/design.md); the second guard beside the lint rules. */
const ALLOWED: Readonly<Record<string, readonly string[] | 'everything'>> = {
  model: [],
  serdes: ['model'],
  expressions: ['model', 'serdes'],
  stores: ['model', 'serdes'],
  operators: ['model', 'serdes', 'stores'],
  topology: ['model', 'serdes', 'expressions', 'stores', 'operators'],
  config: ['model', 'serdes', 'expressions', 'stores', 'topology'],
  kafka: ['model'],
  engine: ['model', 'serdes', 'stores', 'operators', 'topology', 'config', 'kafka'],
  sinks: ['model', 'kafka'],
  'local-kafka': ['model', 'kafka'],
  ops: ['model', 'engine', 'config'],
  testing: ['model', 'serdes', 'stores', 'operators', 'topology', 'config', 'engine'],
  verification: ['model', 'serdes', 'stores', 'operators', 'topology', 'config', 'engine', 'kafka'],
  cli: 'everything',
}

const SPECIFIER =
  /(?:^|[\s;}])(?:import|export)\b[^'"`;]*?from\s*'([^']+)'|\bimport\s*\(\s*'([^']+)'\s*\)|^import\s+'([^']+)'/gm

interface Import {
  readonly file: string
  readonly specifier: string
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => join(folder, name))
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  return [...text.matchAll(SPECIFIER)].map(match => ({ file, specifier: match[1] ?? match[2] ?? match[3] ?? '' }))
}

/** The folder of src/ that a relative import reaches; undefined for a file of src/ itself and for packages. */
function folderOf(path: string): string | undefined {
  const parts = normalize(path).split(sep)
  return parts[0] === 'src' && parts.length > 2 ? parts[1] : undefined
}

describe('imports', () => {
  const imports = sourceFiles('src').flatMap(importsOf)

  it('are found in the sources', () => {
    expect(imports.length).to.be.greaterThan(50)
  })

  it('point down the list of folders only', () => {
    const wrong = imports.filter(({ file, specifier }) => {
      const from = folderOf(file)
      if (from === undefined || !specifier.startsWith('.')) return false
      const to = folderOf(join(dirname(file), specifier)) ?? 'a file of src/ itself'
      const allowed = ALLOWED[from] ?? []
      return allowed !== 'everything' && to !== from && !allowed.includes(to)
    })
    expect(wrong).to.deep.equal([])
  })

  it('name files of the project with their ending', () => {
    const wrong = imports.filter(({ specifier }) => specifier.startsWith('.') && !specifier.endsWith('.ts'))
    expect(wrong).to.deep.equal([])
  })

  it('know every folder of src/', () => {
    const folders = new Set(sourceFiles('src').flatMap(file => folderOf(file) ?? []))
    expect([...folders].filter(folder => ALLOWED[folder] === undefined)).to.deep.equal([])
  })

  it('reach into kafkajs from one file only', () => {
    const users = imports.filter(({ specifier }) => specifier.startsWith('kafkajs')).map(({ file }) => file)
    for (const file of users) expect(file).to.match(/^src\/kafka\/kafkajs-/)
  })
})
