import { parseDurationMs, type Duration } from '../model/duration.ts'
import { nearestName } from '../model/nearest-name.ts'
import type { ConfigNode, MapNode, ScalarNode } from './config-node.ts'
import type { ProblemList } from './problems.ts'
import type { Place } from './source-file.ts'

/** Reads the entries of one map, noting what is wrong instead of throwing. */
export class Fields {
  readonly node: MapNode
  /** As messages name it: `step "totals"`. */
  readonly what: string
  /** Where it was written: the name of the entry, where it has one. */
  readonly place: Place
  readonly #problems: ProblemList
  /** Known keys that were meant, going by their letters, by unknown ones. */
  readonly #mistyped = new Set<string>()

  constructor(node: MapNode, what: string, problems: ProblemList, place: Place = node.place) {
    this.node = node
    this.what = what
    this.place = place
    this.#problems = problems
  }

  /** The fields of a node; notes a mistake and gives `undefined` when it is no map. */
  static of(node: ConfigNode, what: string, problems: ProblemList, place: Place = node.place): Fields | undefined {
    if (node.kind === 'map') return new Fields(node, what, problems, place)
    if (!isBroken(node)) problems.add(node.place, `${what} is a map of keys and values, not ${kindText(node)}`)
    return undefined
  }

  has(name: string): boolean {
    return this.node.entries.has(name)
  }

  get(name: string): ConfigNode | undefined {
    return this.node.entries.get(name)?.node
  }

  /** Place of a key; of the whole map when it is not there. */
  keyPlace(name: string): Place {
    return this.node.entries.get(name)?.keyPlace ?? this.place
  }

  /** Notes every key that is not known, with the nearest one that is. */
  checkKnown(known: Iterable<string>): void {
    const names = [...known]
    for (const [name, { keyPlace }] of this.node.entries) {
      if (names.includes(name)) continue
      const nearest = nearestName(name, names)
      if (nearest !== undefined) this.#mistyped.add(nearest)
      const hint = nearest === undefined ? `known keys: ${names.join(', ')}` : `did you mean "${nearest}"?`
      this.#problems.add(keyPlace, `unknown key "${name}" in ${this.what}`, hint, 'CONFIG_UNKNOWN_PROPERTY')
    }
  }

  /** Whether a key is missing because it was mistyped, which `checkKnown` has noted. */
  isMistyped(name: string): boolean {
    return !this.has(name) && this.#mistyped.has(name)
  }

  /** Notes a missing key. */
  require(name: string, hint?: string): void {
    if (!this.has(name) && !this.isMistyped(name)) this.#problems.add(this.place, `${this.what} lacks "${name}"`, hint)
  }

  /** A text: what was written, `0123` included. */
  text(name: string): string | undefined {
    const scalar = this.#scalar(name, 'a text')
    if (scalar === undefined) return undefined
    if (scalar.text !== '' && scalar.value !== null) return scalar.text
    this.#problems.add(scalar.place, `"${name}" of ${this.what} is empty`)
    return undefined
  }

  /** An integer between two bounds, written as a number or as its digits; `instead` is the advice when it is not. */
  integer(name: string, min: number, max: number = Number.MAX_SAFE_INTEGER, instead?: string): number | undefined {
    const scalar = this.#scalar(name, 'an integer')
    if (scalar === undefined) return undefined
    const value = /^-?\d+$/.test(scalar.text) ? Number(scalar.text) : scalar.value
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value
    this.#problems.add(
      scalar.place,
      `"${name}" of ${this.what} is ${rangeText(min, max)}, not ${shownText(scalar)}`,
      instead,
    )
    return undefined
  }

  /** `true` or `false`. */
  boolean(name: string): boolean | undefined {
    const scalar = this.#scalar(name, 'true or false')
    if (scalar === undefined) return undefined
    if (scalar.text === 'true') return true
    if (scalar.text === 'false') return false
    this.#problems.add(scalar.place, `"${name}" of ${this.what} is true or false, not ${shownText(scalar)}`)
    return undefined
  }

  /** One of some words. */
  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const scalar = this.#scalar(name, `one of ${choices.join(', ')}`)
    if (scalar === undefined) return undefined
    const found = choices.find(choice => choice === scalar.text)
    if (found !== undefined) return found
    const nearest = nearestName(scalar.text, choices)
    this.#problems.add(
      scalar.place,
      `"${name}" of ${this.what} is ${choices.length === 1 ? '' : 'one of '}${choices.join(', ')}, not ${shownText(scalar)}`,
      nearest === undefined ? undefined : `did you mean "${nearest}"?`,
    )
    return undefined
  }

  /** One of some words, or several of others with commas between. */
  list(name: string, words: readonly string[], parts: readonly string[]): string | undefined {
    const scalar = this.#scalar(name, `${words.join(', ')}, or some of ${parts.join(', ')}`)
    if (scalar === undefined || words.includes(scalar.text)) return scalar?.text
    const wrong = scalar.text.split(',').find(part => !parts.includes(part.trim()))
    if (wrong === undefined) return scalar.text
    const nearest = nearestName(wrong.trim(), [...words, ...parts])
    this.#problems.add(
      scalar.place,
      `"${name}" of ${this.what} is ${words.join(', ')}, or some of ${parts.join(', ')} with commas between, not ${shownText(scalar)}`,
      nearest === undefined ? undefined : `did you mean "${nearest}"?`,
    )
    return undefined
  }

  /** A duration, `10s` or milliseconds. */
  duration(name: string): Duration | undefined {
    const scalar = this.#scalar(name, 'a duration')
    if (scalar === undefined) return undefined
    const ms = parseDurationMs(/^\d+$/.test(scalar.text) ? Number(scalar.text) : scalar.text)
    if (ms !== undefined) return ms
    this.#problems.add(
      scalar.place,
      `"${name}" of ${this.what} is a duration such as 500ms, 10s, 1m, 2h or 7d, not ${shownText(scalar)}`,
    )
    return undefined
  }

  /** One text or a list of texts, each with its place. */
  texts(name: string): readonly ScalarNode[] | undefined {
    const node = this.get(name)
    if (node === undefined || isBroken(node)) return undefined
    const items = node.kind === 'list' ? node.items : [node]
    const texts = items.filter((item): item is ScalarNode => item.kind === 'scalar' && item.text !== '')
    if (texts.length === items.length && items.length > 0) return texts
    this.#problems.add(node.place, `"${name}" of ${this.what} is a name or a list of names`)
    return undefined
  }

  /** The fields of a nested map. */
  fields(name: string, what = `"${name}" of ${this.what}`): Fields | undefined {
    const node = this.get(name)
    return node === undefined ? undefined : Fields.of(node, what, this.#problems, this.keyPlace(name))
  }

  #scalar(name: string, wanted: string): ScalarNode | undefined {
    const node = this.get(name)
    if (node === undefined || isBroken(node)) return undefined
    if (node.kind === 'scalar') return node
    this.#problems.add(node.place, `"${name}" of ${this.what} is ${wanted}, not ${kindText(node)}`)
    return undefined
  }
}

/** Whether a reference in the node could not be resolved; that has been reported already. */
export function isBroken(node: ConfigNode): boolean {
  return node.kind === 'scalar' && node.broken
}

/** What kind of node it is, for messages. */
export function kindText(node: ConfigNode): string {
  if (node.kind === 'map') return 'a map'
  if (node.kind === 'list') return 'a list'
  return node.value === null ? 'nothing' : shownText(node)
}

function shownText(scalar: ScalarNode): string {
  // What came from a variable or a file may be a secret in the wrong place.
  return scalar.interpolated ? 'what the reference gives' : JSON.stringify(scalar.text.slice(0, 80))
}

function rangeText(min: number, max: number): string {
  if (min === max) return String(min)
  if (max >= Number.MAX_SAFE_INTEGER) return `an integer of at least ${String(min)}`
  return `an integer from ${String(min)} to ${String(max)}`
}
