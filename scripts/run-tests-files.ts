import { readdirSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The tests compiled beside this script. */
const TESTS = fileURLToPath(new URL('../test', import.meta.url))

/** All test files in the given files and folders. @param places - @default all */
export function findTestFiles(places: readonly string[]): readonly string[] {
  const found = (places.length === 0 ? [TESTS] : places).flatMap(place =>
    statSync(place).isDirectory()
      ? readdirSync(place, { recursive: true, encoding: 'utf8' }).map(name => join(place, name))
      : [place],
  )
  return [...new Set(found.filter(file => file.endsWith('.test.js')))].toSorted().map(file => relative('', file))
}

/** Quick ones in one order, the others each for itself and the long ones first. */
export function inOrder(files: readonly string[]): readonly (readonly string[])[] {
  const quick = files.filter(file => !isIntegration(file))
  const slow = files.filter(isIntegration)
  return [...(quick.length === 0 ? [] : [quick]), ...slow.map(file => [file])]
}

function isIntegration(file: string): boolean {
  return file.split(sep).some(folder => folder === 'integration' || folder === 'chaos')
}
