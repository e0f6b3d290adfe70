import { expect } from 'chai'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { REFERENCES } from '../../scripts/references.ts'
import { loadApplication } from '../../src/config/load-application.ts'
import { OPERATORS } from '../../src/config/vocabulary.ts'
import { json } from '../../src/serdes/json.ts'
import { string } from '../../src/serdes/text.ts'
import { TestDriver } from '../../src/testing/test-driver.ts'
import { runYamlTests } from '../../src/testing/yaml-tests.ts'
import { topology } from './readme-app.ts'

const documents = [
  ...readdirSync('.').filter(name => name.endsWith('.md')),
  ...readdirSync('docs').map(name => join('docs', name)),
]

/** Blocks of one language between fences. */
function blocks(file: string, language: string): string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, is]) => is === language)
    .map(([, , code = '']) => code)
}

/** `#section` as GitHub names it. */
function anchors(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Headings of one depth. */
function titles(file: string, mark: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line.startsWith(mark))
    .map(line => line.slice(mark.length))
}

/** Tests that a section of docs/invariants.md names: one to a line, file and title. */
function testsOf(section: string): { readonly file: string; readonly title: string }[] {
  return [...section.matchAll(/^- `(test\/[^`]+)`: (.+)$/gm)].map(([, file = '', title = '']) => ({ file, title }))
}

describe('generated documents', () => {
  for (const [file, generate] of Object.entries(REFERENCES)) {
    it(`${file} is as the code says (npm run docs)`, () => {
      expect(readFileSync(file, 'utf8')).to.equal(generate())
    })
  }
})

describe('documents', () => {
  it('are found', () => {
    expect(documents).to.include.members(['README.md', 'SECURITY.md', 'docs/first-app.md', 'docs/invariants.md'])
  })

  it('link only to what is there', () => {
    const broken = documents.flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(
        ([link, path = '', anchor]) => {
          const target = path === '' ? file : join(dirname(file), path)
          const found = existsSync(target) && (anchor === undefined || anchors(target).includes(anchor))
          return found ? [] : [`${file}: ${link}`]
        },
      ),
    )
    expect(broken).to.deep.equal([])
  })

  it('name only scripts that package.json has', () => {
    const scripts = new Set(
      [...readFileSync('package.json', 'utf8').matchAll(/^ {4}"([\w:]+)": /gm)].map(([, name]) => name),
    )
    const named = documents.flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name = '']) => name),
    )
    expect(named).not.to.deep.equal([])
    expect([...new Set(named)].filter(name => !scripts.has(name))).to.deep.equal([])
  })

  it('name only files that are there', () => {
    const missing = documents.flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/`((?:src|test|scripts|docs|config)\/[\w./-]+\.\w+)`/g)]
        .map(([, path = '']) => path)
        .filter(path => !existsSync(path))
        .map(path => `${file}: ${path}`),
    )
    expect(missing).to.deep.equal([])
  })

  it('are there where sources name them', () => {
    const sources = ['src', 'scripts'].flatMap(folder =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter(name => name.endsWith('.ts'))
        .map(name => join(folder, name)),
    )
    const missing = sources.flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/[\w./-]+\.md\b/g)]
        .map(([path]) => path)
        .filter(path => !existsSync(path))
        .map(path => `${file}: ${path}`),
    )
    expect(missing).to.deep.equal([])
  })

  it('give a reason for every dependency, and for nothing else', () => {
    const { dependencies, devDependencies } = z
      .object({ dependencies: z.record(z.string(), z.string()), devDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync('package.json', 'utf8')))
    const packages = Object.keys({ ...dependencies, ...devDependencies }).map(name =>
      name.startsWith('@types/') ? '@types/*' : name,
    )
    const rows = readFileSync('docs/dependencies.md', 'utf8').matchAll(/^\| ([^|]+) \|/gm)
    const reasoned = [...rows]
      .flatMap(([, cell = '']) => cell.split(', '))
      .filter(cell => !/^(?:package$|-)/.test(cell))
    expect(reasoned).to.have.members([...new Set(packages)])
  })

  describe('show applications', () => {
    let folder = ''
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'millrace-docs-'))
    })
    after(() => {
      rmSync(folder, { recursive: true })
    })

    for (const document of ['README.md', 'docs/first-app.md', 'docs/tuning.md']) {
      it(`that load without warnings and pass their own tests, in ${document}`, async () => {
        const shown = blocks(document, 'yaml')
        expect(shown).not.to.deep.equal([])
        for (const yaml of shown) {
          const file = join(folder, 'app.yaml')
          writeFileSync(file, yaml)
          expect((await loadApplication([file], { environment: {} })).warnings).to.deep.equal([])
          const results = await runYamlTests([file], { environment: {} })
          expect(results.flatMap(({ differences }) => differences)).to.deep.equal([])
        }
      })
    }

    it('of twenty lines at most, in the README', () => {
      expect(blocks('README.md', 'yaml').map(yaml => yaml.trimEnd().split('\n').length <= 20)).to.deep.equal([true])
    })

    it('in TypeScript that compile and do what they say, in the README', () => {
      const source = readFileSync('test/tidy/readme-app.ts', 'utf8').replace("'../../src/index.ts'", "'millrace'")
      expect(blocks('README.md', 'ts')).to.deep.equal([source])

      using driver = new TestDriver(topology)
      const orders = driver.input('orders', { key: string, value: json<{ customerId: string; cents: number }>() })
      orders.pipe('o1', { customerId: 'ada', cents: 500 })
      orders.pipe('o2', { customerId: 'ada', cents: 250 })
      expect(driver.output('order-totals', { key: string, value: json<number>() }).readKeyValues()).to.deep.equal([
        ['ada', 500],
        ['ada', 750],
      ])
    })
  })
})

describe('docs/dsl.md', () => {
  it('describes every public name of topologies, stores and serdes', () => {
    const lists = readFileSync('src/index.ts', 'utf8').matchAll(
      /\{([^}]*)\} from '\.\/(?:topology|stores|serdes)\/(?!properties)/g,
    )
    const names = [...lists].flatMap(([, list = '']) => list.split(',').map(name => name.trim())).filter(Boolean)
    const described = new Set(titles('docs/dsl.md', '### '))
    expect(names).to.include.members(['KStream', 'KTable', 'keyValueStore', 'json'])
    expect(names.filter(name => !described.has(name))).to.deep.equal([])
  })
})

describe('docs/migration.md', () => {
  const text = readFileSync('docs/migration.md', 'utf8')

  it('names every operator of the DSL', () => {
    const [, chapter = ''] = readFileSync('docs/dsl.md', 'utf8').split(/^## Streams and tables$/m)
    const operators = [...(chapter.split(/^## /m)[0] ?? '').matchAll(/^#### (\w+)$/gm)].map(([, name = '']) => name)
    expect(operators).to.include.members(['filter', 'windowedBy', 'suppress', 'foreignKeyJoin', 'transformValues'])
    expect(operators.filter(name => !new RegExp(`\\b${name}\\(|\`${name}\``).test(text))).to.deep.equal([])
  })

  it('names every operator of YAML', () => {
    expect(Object.keys(OPERATORS).filter(name => !text.includes(`${name}:`))).to.deep.equal([])
  })
})

describe('docs/operations.md', () => {
  it('says of every reason for which records are dropped what it means', () => {
    const [, union = ''] = readFileSync('src/model/record-failure.ts', 'utf8').split('export type DropReason =')
    const reasons = [...union.matchAll(/'(\w+)'/g)].map(([, reason = '']) => reason)
    const table = readFileSync('docs/operations.md', 'utf8').split('| `reason` | means |')[1]?.split('\n\n')[0] ?? ''
    expect(reasons).to.include.members(['late', 'nullKey'])
    expect(reasons.filter(reason => !table.includes(`\`${reason}\``))).to.deep.equal([])
  })
})

describe('docs/invariants.md', () => {
  const text = readFileSync('docs/invariants.md', 'utf8')
  const sections = text.split(/^## /m).slice(1)

  it('has all sixteen, in order', () => {
    expect(sections.map(section => /^(I\d+) /.exec(section)?.[1])).to.deep.equal(
      Array.from({ length: 16 }, (_, index) => `I${String(index + 1)}`),
    )
  })

  it('names at least one test for each', () => {
    expect(sections.filter(section => testsOf(section).length === 0)).to.deep.equal([])
  })

  it('names only tests that exist, by their titles', () => {
    const gone = sections
      .flatMap(testsOf)
      .filter(({ file, title }) => !existsSync(file) || !readFileSync(file, 'utf8').includes(title))
    expect(gone).to.deep.equal([])
  })

  it('names only assertions that exist', () => {
    const asserted = [...text.matchAll(/assertion\s`(I\d+ [^`]+)`\sin\s`([^`]+)`/g)].map(
      ([, claim = '', file = '']) => ({ claim, file }),
    )
    expect(asserted).not.to.deep.equal([])
    expect(asserted.filter(({ claim, file }) => !readFileSync(file, 'utf8').includes(`'${claim}`))).to.deep.equal([])
  })
})
