import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  visit,
  type Alias,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml'
import type { ConfigNode, MapEntry, ScalarNode } from './config-node.ts'
import { interpolate, type InterpolationSources } from './interpolation.ts'
import type { ProblemList } from './problems.ts'
import type { Place, SourceFile } from './source-file.ts'

/** No application is that long; what a parser makes of it would take minutes and gigabytes. */
const FILE_CHARACTERS_MAX = 1_048_576
/** More nodes than that are not written by hand: aliases of aliases grow without bound. */
const NODES_MAX = 50_000
const DEPTH_MAX = 64

/** Keys that would reach a prototype when someone copies the tree carelessly. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Parses a YAML text into a tree that knows its places, with all references resolved. Mistakes are noted, not thrown;
 * `undefined` when there is nothing to go on with.
 *
 * @param sources - `undefined` leaves `${…}` alone
 */
export function parseYaml(
  file: SourceFile,
  sources: InterpolationSources | undefined,
  problems: ProblemList,
): ConfigNode | undefined {
  if (file.text.length > FILE_CHARACTERS_MAX) {
    problems.addUnreadable(
      { file, start: 0, end: 1 },
      `the file is longer than ${String(FILE_CHARACTERS_MAX)} characters`,
    )
    return undefined
  }
  // The library would compare every key with every other one.
  const document = parseDocument(file.text, { prettyErrors: false, uniqueKeys: false, strict: true, version: '1.2' })
  // What follows the first syntax error is its echo.
  const [error] = document.errors
  if (error !== undefined) {
    const [start, end] = error.pos
    const place = { file, start, end: Math.max(end, start + 1) }
    const isReference = file.text.slice(start - 1, start + 1) === '${'
    problems.addUnreadable(
      place,
      syntaxText(error.message),
      isReference ? 'inside { } a reference stands in quotes: "${NAME}"' : undefined,
    )
  }
  for (const warning of document.warnings)
    problems.warn({ file, start: warning.pos[0], end: warning.pos[1] }, warning.message)
  if (document.errors.length > 0 || document.contents === null) return undefined
  return new TreeBuilder(file, document, sources, problems).build(document.contents, 0)
}

function syntaxText(message: string): string {
  if (message.includes('call stack')) return 'not valid YAML: it nests too deep'
  const [firstLine] = message.split('\n')
  return `not valid YAML: ${(firstLine ?? message).replace(/ at line \d+, column \d+:?$/, '')}`
}

/** Turns the nodes of the YAML library into ours. */
class TreeBuilder {
  readonly #file: SourceFile
  readonly #sources: InterpolationSources | undefined
  readonly #problems: ProblemList
  /** What each alias stands for: the last anchor of its name before it. */
  readonly #targets: ReadonlyMap<Alias, Node>
  #nodes = 0
  #isExhausted = false

  constructor(file: SourceFile, document: Document, sources: InterpolationSources | undefined, problems: ProblemList) {
    this.#file = file
    this.#targets = aliasTargets(document)
    this.#sources = sources
    this.#problems = problems
  }

  build(node: Node, depth: number): ConfigNode | undefined {
    if (this.#isExhausted) return undefined
    const place = this.#placeOf(node)
    if (++this.#nodes > NODES_MAX || depth > DEPTH_MAX) {
      // One message for all of it: aliases of aliases would fill the screen with more.
      this.#isExhausted = true
      this.#problems.addUnreadable(place, 'the file is too large or nests too deep')
      return undefined
    }
    if (isAlias(node)) {
      const target = this.#targets.get(node)
      if (target === undefined) this.#problems.addUnreadable(place, `there is no anchor "${node.source}"`)
      return target === undefined ? undefined : this.build(target, depth + 1)
    }
    if (isMap(node)) return { kind: 'map', place, entries: this.#entriesOf(node, depth) }
    if (isSeq(node)) {
      const items = node.items.map(item => (isNode(item) ? this.build(item, depth + 1) : undefined))
      return { kind: 'list', place, items: items.filter(item => item !== undefined) }
    }
    return isScalar(node) ? this.#scalar(node.value, sourceTextOf(node), place) : undefined
  }

  #entriesOf(map: YAMLMap, depth: number): ReadonlyMap<string, MapEntry> {
    const entries = new Map<string, MapEntry>()
    for (const pair of map.items) {
      const entry = this.#entry(pair, depth)
      if (entry === undefined) continue
      if (entries.has(entry.name)) this.#problems.add(entry.keyPlace, `the key "${entry.name}" is there twice`)
      entries.set(entry.name, entry)
    }
    return entries
  }

  #entry({ key, value }: Pair, depth: number): (MapEntry & { readonly name: string }) | undefined {
    if (!isScalar(key)) {
      this.#problems.add(isNode(key) ? this.#placeOf(key) : undefined, 'a key is a text')
      return undefined
    }
    const keyPlace = this.#placeOf(key)
    const name = sourceTextOf(key) ?? String(key.value)
    if (FORBIDDEN_KEYS.has(name)) {
      this.#problems.add(keyPlace, `the key "${name}" is refused`)
      return undefined
    }
    const node = isNode(value) ? this.build(value, depth + 1) : this.#scalar(null, '', keyPlace)
    return node === undefined ? undefined : { name, keyPlace, node }
  }

  #scalar(value: unknown, source: string | undefined, place: Place): ScalarNode | undefined {
    const written = source ?? (typeof value === 'string' ? value : '')
    const inFile = this.#file.text.slice(place.start, place.end)
    const quoted = /^["']/.test(inFile)
    const verbatimStart =
      inFile.includes(written) && !written.includes('\n') ? place.start + inFile.indexOf(written) : undefined
    const resolved =
      this.#sources === undefined ? { text: written, references: 0 } : interpolate(written, this.#sources)
    if ('problem' in resolved) {
      const start = verbatimStart === undefined ? place.start : verbatimStart + resolved.start
      const end = verbatimStart === undefined ? place.end : verbatimStart + resolved.end
      const code = written.includes('${file:') ? 'SECRET_UNREADABLE' : 'CONFIG_INVALID'
      this.#problems.add({ file: this.#file, start, end }, resolved.problem, resolved.hint, code)
      return { kind: 'scalar', place, value: '', text: '', interpolated: true, broken: true, verbatimStart: undefined }
    }
    const changed = resolved.text !== written
    if (!quoted && !changed && typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      this.#problems.add(
        place,
        `the integer ${written} is beyond ±(2^53 - 1) and would be rounded`,
        'write it in quotes',
      )
    }
    return {
      kind: 'scalar',
      place,
      value: changed || !isPlainScalar(value) ? resolved.text : value,
      text: resolved.text,
      interpolated: resolved.references > 0,
      broken: false,
      verbatimStart: changed ? undefined : verbatimStart,
    }
  }

  #placeOf(node: Node): Place {
    const [start, end] = node.range ?? [0, 0]
    return { file: this.#file, start, end: Math.max(end, start + 1) }
  }
}

/** Looks through the document once; the library would do so for each alias. */
function aliasTargets(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  visit(document, {
    Alias(_, alias) {
      const target = anchors.get(alias.source)
      if (target !== undefined) targets.set(alias, target)
    },
    Value(_, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
  })
  return targets
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value)
}

/** What stands between the quotes, or the plain text: `0123` stays `0123`. */
function sourceTextOf(scalar: {
  readonly value: unknown
  readonly source?: string
  readonly type?: unknown
}): string | undefined {
  if (typeof scalar.value === 'string') return scalar.value
  return scalar.source
}

function isPlainScalar(value: unknown): value is string | number | boolean | null {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
