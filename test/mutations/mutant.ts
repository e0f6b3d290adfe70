import { spawn } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Catcher, Mutation } from './mutation.ts'

/** The compiled project that this file is part of. */
const BUILD = fileURLToPath(new URL('../..', import.meta.url))

const RUN_TIMEOUT_MS = 420_000

/** The text as it may stand in compiled code: compilers choose blanks, quotes and semicolons. */
function patternOf(text: string): RegExp {
  const parts = text
    .split(/\s+/)
    .map(part => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`).replaceAll(/['"]/g, `['"]`))
  // Where a line of the source ends, the compiled one may have a semicolon; within brackets, no blank.
  return new RegExp(parts.join(String.raw`;?\s*`), 'g')
}

/** The compiled file of a source. */
function compiled(build: string, file: string): string {
  return join(build, 'src', `${file}.js`)
}

/** How often the text of a mutation stands in the compiled project; anything but 1 is a mistake in the table. */
export function occurrencesOf({ file, text }: Mutation): number {
  return [...readFileSync(compiled(BUILD, file), 'utf8').matchAll(patternOf(text))].length
}

/** What became of a test. */
export interface TestRun {
  readonly passed: number
  readonly failed: number
  readonly output: string
}

/** A copy of the compiled project, in which one bug at a time is put and taken out again. */
export class MutantFolder {
  readonly #folder: string

  constructor(name: string) {
    // Beside the original, so that packages are found.
    this.#folder = join(BUILD, '..', `build-mutant-${name}`)
    this.remove()
    for (const part of ['src', 'test', 'scripts']) {
      cpSync(join(BUILD, part), join(this.#folder, part), { recursive: true })
    }
  }

  /** Runs work on the copy with the bug in it. @throws Error when the text is not there exactly once */
  async with<T>({ name, file, text, replacement }: Mutation, work: () => Promise<T>): Promise<T> {
    const path = compiled(this.#folder, file)
    const original = readFileSync(path, 'utf8')
    const count = [...original.matchAll(patternOf(text))].length
    if (count !== 1) throw new Error(`${name}: the text stands ${String(count)} times in ${file}`)
    writeFileSync(
      path,
      original.replace(patternOf(text), () => replacement),
    )
    try {
      return await work()
    } finally {
      writeFileSync(path, original)
    }
  }

  /** Runs the named test on the copy, in a process of its own. */
  run({ file, title }: Pick<Catcher, 'file' | 'title'>): Promise<TestRun> {
    const args = [
      join('node_modules', 'mocha', 'bin', 'mocha.js'),
      '--no-config',
      // The bound of the whole run is what counts: a machine that tries bugs has other things to do.
      '--timeout',
      '60000',
      '--exit',
      join(this.#folder, 'test', `${file}.test.js`),
      ...(title === '' ? [] : ['--fgrep', title]),
    ]
    return runToEnd(args)
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function runToEnd(args: readonly string[]): Promise<TestRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const deadline = setTimeout(() => {
      output += '\nnot within the deadline'
      child.kill('SIGTERM')
    }, RUN_TIMEOUT_MS)
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8')
      })
    }
    child.once('error', reject)
    child.once('exit', () => {
      clearTimeout(deadline)
      const count = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(output)?.[1] ?? 0)
      resolve({ passed: count('passing'), failed: count('failing'), output })
    })
  })
}

/** What is wrong with how a test took a mutation; `undefined` when it went red for the right reason. */
export function complaintAbout(
  { failed, passed, output }: TestRun,
  { reason, file, title }: Catcher,
): string | undefined {
  const test = `${file}${title === '' ? '' : `: ${title}`}`
  if (failed === 0) return passed === 0 ? `did not run: ${test}` : `stayed green: ${test}`
  return reason.test(output) ? undefined : `went red for another reason: ${test}`
}
