import { expect } from 'chai'
import fc from 'fast-check'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { CommandCapture } from '../../support/command-capture.ts'

const CLI = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
/** Of the compiler and the libraries most; what a bomb would make of its few bytes does not fit. */
const HEAP_MB = 160
const TIME_MS_MAX = 40_000

const repeated = (text: string, times: number): string => text.repeat(times)

/** Aliases of aliases: nine times nine times nine … of a few bytes. */
function billionLaughs(): string {
  const lines = ['a: &a [x,x,x,x,x,x,x,x,x]']
  for (const [index, name] of Array.from('bcdefghi').entries()) {
    const before = 'abcdefgh'[index] ?? ''
    lines.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(',')}]`)
  }
  return lines.join('\n')
}

function merges(): string {
  const lines = Array.from({ length: 60 }, (_, index) => {
    const before = index === 0 ? '*a' : `*b${String(index - 1)}`
    return `b${String(index)}: &b${String(index)} { <<: [${Array.from({ length: 20 }, () => before).join(',')}] }`
  })
  return ['a: &a { x: 1 }', ...lines].join('\n')
}

/** Small files that become large, deep, or slow, and files that are so already. */
const BOMBS: Readonly<Record<string, string>> = {
  'aliases of aliases': billionLaughs(),
  'one large node named again and again': `a: &a ["${repeated('x', 10_000)}"]\nb: [${Array.from({ length: 40_000 }, () => '*a').join(',')}]`,
  'a node that holds itself': 'a: &a [*a, *a]',
  'merges of merges': merges(),
  'lists in lists': `a: ${repeated('[', 100_000)}`,
  'maps in maps': `a: ${repeated('{a: ', 20_000)}${repeated('}', 20_000)}`,
  'keys of keys': repeated('? ', 50_000),
  'dashes of dashes': repeated('- ', 50_000),
  'as many keys as fit': Array.from({ length: 80_000 }, (_, index) => `k${String(index)}: 1`).join('\n'),
  'as many anchors as fit': Array.from(
    { length: 50_000 },
    (_, index) => `k${String(index)}: &a${String(index)} x`,
  ).join('\n'),
  'a long text': `a: "${repeated('x', 10_000_000)}"`,
  'a long key': `? ${repeated('x', 900_000)}\n: 1`,
}

/** What YAML, references and this configuration are made of. */
const PIECES = [
  'streams: kafka: sources: steps: - ? : [ ] { } , &a *a " \' | > !! !x # % @ ` --- ... <<:'.split(' '),
  ['\n', ' ', '  ', '\t', ': ', '- ', '${', '}', '${A:-', '${file:/x}', '$$', '\u0000', '\uFEFF'],
  ['application.id', '__proto__', 'filter: ', 'value.x'],
].flat()

const HEAD = 'streams: { application.id: shop }\nkafka: { bootstrap.servers: "127.0.0.1:9092" }\n'

/** Files in which the key stands somewhere. */
const places = (key: string): string[] => [
  `${HEAD}${key}: { polluted: yes }\n`,
  `${HEAD}sources: { ${key}: { topic: x } }\n`,
  `${HEAD}sources: { in: { topic: x, ${key}: { polluted: yes } } }\n`,
  `streams: { application.id: shop, ${key}: { polluted: yes } }\nkafka: { bootstrap.servers: "127.0.0.1:9092" }\n`,
  `${HEAD}sources: { in: { topic: x } }\nsteps: { a: { from: in, aggregate: { init: { ${key}: { polluted: yes } }, update: { n: "1" } } } }\n`,
  `${HEAD}sources: { in: { topic: x } }\nsteps: { a: { from: in, map: { value: { ${key}: { polluted: "1" } } } } }\n`,
  `${HEAD}"${key}": &x { polluted: yes }\nsources: { <<: *x }\n`,
]

async function validate(...args: string[]): Promise<{ code: number; said: string; tookMs: number }> {
  const io = new CommandCapture()
  const startedMs = Date.now()
  const code = await runCommandLine(['validate', ...args], { version: '0', commands: COMMANDS }, io)
  return { code, said: [...io.stdout, ...io.stderr].join('\n'), tookMs: Date.now() - startedMs }
}

describe('a hostile configuration', function () {
  this.timeout(180_000)
  let folder = ''

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-hostile-'))
  })

  after(() => rm(folder, { recursive: true, force: true }))

  const fileOf = async (name: string, text: string): Promise<string> => {
    const file = join(folder, `${name.replaceAll(' ', '-')}.yaml`)
    await writeFile(file, text)
    return file
  }

  for (const [name, text] of Object.entries(BOMBS)) {
    it(`of ${name} ends in bounded time with few words`, async () => {
      const { code, said, tookMs } = await validate(await fileOf(name, text))
      expect(code).to.equal(78)
      expect(tookMs).to.be.lessThan(TIME_MS_MAX)
      expect(said).to.match(/nests too deep|too large|is longer than|unknown key|errors?\. Nothing was started/)
      expect(said.length).to.be.lessThan(30_000)
    })
  }

  for (const name of ['aliases of aliases', 'one large node named again and again', 'a node that holds itself']) {
    it(`of ${name} is one error, in a process with ${String(HEAP_MB)} MB`, async () => {
      const file = await fileOf(name, BOMBS[name] ?? '')
      const args = [`--max-old-space-size=${String(HEAP_MB)}`, CLI, 'validate', file]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
      let said = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk: Buffer) => {
          said += chunk.toString()
        })
      }
      const [code] = (await once(child, 'close')) as [number | null]
      expect(code, said).to.equal(78)
      expect(said).to.match(/the file is too large or nests too deep[\s\S]*^1 error\. Nothing was started\.$/m)
    })
  }

  it('pollutes no prototype by its keys, wherever they stand, nor by --set', async () => {
    const keys = ['__proto__', 'constructor', 'prototype']
    for (const key of keys) {
      for (const text of places(key)) {
        const { code, said } = await validate(await fileOf('pollution', text))
        expect(code, text).to.equal(78)
        expect(said).to.include(`"${key}"`)
      }
      const good = await fileOf(
        'good',
        `${HEAD}sources: { in: { topic: x } }\nsinks: { out: { from: in, topic: y } }\n`,
      )
      for (const path of [`${key}.polluted`, `sources.${key}.polluted`, `sources.in.${key}.polluted`]) {
        expect((await validate(good, '--set', `${path}=yes`)).code, path).to.equal(78)
      }
    }
    expect(Object.keys(Object.prototype)).to.deep.equal([])
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined)
  })

  it('of random pieces ends with 78 and never with a fault', async () => {
    const piece = fc.constantFrom(...PIECES)
    const text = fc.array(fc.oneof(piece, fc.string({ maxLength: 8 })), { maxLength: 60 }).map(parts => parts.join(''))
    await fc.assert(
      fc.asyncProperty(text, async pieces => {
        const { code, said } = await validate(await fileOf('random', pieces))
        expect(code, said).to.equal(78)
        expect(said).not.to.include('INTERNAL')
      }),
      { numRuns: 150 },
    )
  })
})
