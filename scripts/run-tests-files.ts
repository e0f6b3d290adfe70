import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Files that one lane runs in one go. */
export interface TestOrder {
  readonly files: readonly string[]
  /** Whether what they shared, such as brokers, ends with them instead of with the lane. */
  readonly endsShared: boolean
  /** Kinds of shared brokers that they start, unless the lane has them; that of nearly all tests is left out. */
  readonly brokers: readonly string[]
}

/** The tests compiled beside this script. */
const TESTS = fileURLToPath(new URL('../test', import.meta.url))

/** Folders below which files want real brokers, and take their time. */
const SLOW = ['integration', 'chaos']

/** Their files take longest, so they come before the others: no lane is left with one of them at the end. */
const LONG = /\/chaos\/|\/cli\/demo|\/faults\/|\/jvm\/|\/verification\//

/** A cluster of three takes ten seconds of one core to start, and an eighth of one as long as it runs. */
const THREE_BROKERS = /useBroker\(['"]three['"]\)/

/** How the code of a file names the kinds of brokers that only some tests want. */
const BROKERS: Readonly<Record<string, RegExp>> = {
  tv0: /TRANSACTION_BROKERS|['"]tv0['"]/,
  '3.9.1': /TRANSACTION_BROKERS|['"]3\.9\.1['"]/,
  secure: /(?:useBroker|useCaseRoom)\(['"]secure['"]\)/,
}

/** All test files in the given files and folders. @param places - @default all */
export function findTestFiles(places: readonly string[]): readonly string[] {
  const found = (places.length === 0 ? [TESTS] : places).flatMap(place =>
    statSync(place).isDirectory()
      ? readdirSync(place, { recursive: true, encoding: 'utf8' }).map(name => join(place, name))
      : [place],
  )
  return [...new Set(found.filter(file => file.endsWith('.test.js')))].toSorted().map(file => relative('', file))
}

/**
 * What the lanes draw, in order: all files without a broker together, all files with three brokers together, then the
 * others one by one.
 */
export function ordersOf(files: readonly string[]): readonly TestOrder[] {
  const [slow, quick] = divide(files, isSlow)
  const [three, single] = divide(slow, file => THREE_BROKERS.test(readFileSync(file, 'utf8')))
  const [long, others] = divide(single, file => LONG.test(file))
  return [
    { files: quick, endsShared: false, brokers: [] },
    { files: three, endsShared: true, brokers: [] },
    ...[...long, ...others].map(file => ({ files: [file], endsShared: false, brokers: brokersOf(file) })),
  ].filter(order => order.files.length > 0)
}

/**
 * Which order a lane draws next: the first that starts no kind of broker which another lane has already; else the first.
 *
 * @param own - kinds that the lane has started
 * @param others - kinds that other lanes have started
 * @returns its index; −1 when there is none
 */
export function drawFrom(orders: readonly TestOrder[], own: ReadonlySet<string>, others: ReadonlySet<string>): number {
  const fitting = orders.findIndex(({ brokers }) => brokers.every(kind => own.has(kind) || !others.has(kind)))
  return fitting >= 0 || orders.length === 0 ? fitting : 0
}

function brokersOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  return Object.entries(BROKERS).flatMap(([kind, named]) => (named.test(text) ? [kind] : []))
}

function isSlow(file: string): boolean {
  return file.split(sep).some(folder => SLOW.includes(folder))
}

function divide(files: readonly string[], fits: (file: string) => boolean): readonly [string[], string[]] {
  return [files.filter(fits), files.filter(file => !fits(file))]
}
