import { MillraceError } from '../model/errors.ts'
import { NO_HEADERS } from '../model/headers.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import type { AnySerde } from '../serdes/serde.ts'
import type { AnyState } from '../stores/any-state.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import type { SessionState } from '../stores/session-state.ts'
import type { VersionedState } from '../stores/versioned-state.ts'
import type { WindowState } from '../stores/window-state.ts'
import type { StateQuestion, StateRow } from './state-question.ts'

/** Bounds of one page: reading it must not keep the records of the thread waiting. */
const PAGE_ROWS_MAX = 512
const PAGE_BYTES_MAX = 262_144

/** What a store has to say to a question. */
export interface PageOfRows {
  readonly rows: readonly StateRow[]
  /** Whether the page was full. */
  readonly more: boolean
}

/**
 * Reads what a question asks for.
 *
 * @param serde - of the values: they travel as the bytes the changelog has
 * @throws MillraceError `USAGE` when the store is of another kind
 */
export function readStore(question: StateQuestion, store: AnyState, serde: AnySerde): PageOfRows {
  const page = new Page(store, serde)
  switch (question.kind) {
    case 'value':
      if (store.kind === 'keyValue') return page.single(question.key, store.get(question.key), -1, undefined)
      return readVersion(page, versioned(store), question.key, undefined)
    case 'version':
      return readVersion(page, versioned(store), question.key, question.asOf)
    case 'range':
      return readRange(page, keyValue(store), question)
    case 'windows':
      return readWindows(page, windowed(store), question)
    case 'sessions':
      return readSessions(page, session(store), question)
  }
}

/** Rows that are being gathered. */
class Page implements PageOfRows {
  readonly rows: StateRow[] = []
  readonly #serialize: (value: unknown) => Uint8Array
  #bytes = 0
  #more = false

  constructor(store: AnyState, serde: AnySerde) {
    const { serialize } = erasedSerde(serde)
    const context = { topic: store.changelogTopic ?? store.name, side: 'value', headers: NO_HEADERS } as const
    this.#serialize = value => serialize(value, context)
  }

  get more(): boolean {
    return this.#more
  }

  /** Whether another row still fits; once it does not, the page says that there is more. */
  takes(): boolean {
    if (this.rows.length < PAGE_ROWS_MAX && this.#bytes < PAGE_BYTES_MAX) return true
    this.#more = true
    return false
  }

  /** Keys and values are copied: both may be views of memory that is written to again. */
  add(key: Uint8Array, value: unknown, start: number, end: number | undefined): void {
    const row = { key: Uint8Array.from(key), value: Uint8Array.from(this.#serialize(value)), start, end }
    this.rows.push(row)
    this.#bytes += row.key.length + row.value.length
  }

  single(key: Uint8Array, value: unknown, start: number, end: number | undefined): this {
    if (value !== undefined) this.add(key, value, start, end)
    return this
  }
}

type QuestionOf<Kind extends StateQuestion['kind']> = Extract<StateQuestion, { readonly kind: Kind }>
type QuestionOfTimes = Extract<StateQuestion, { readonly skip: number }>

function readVersion(page: Page, store: VersionedState, key: Uint8Array, asOf: number | undefined): PageOfRows {
  const value = asOf === undefined ? store.get(key) : store.getAsOf(key, asOf)
  return page.single(key, value, store.lastTimestamp, store.lastValidTo)
}

function readRange(page: Page, store: KeyValueState, { from, to, after }: QuestionOf<'range'>): PageOfRows {
  for (const [key, value] of store.scan({ from: after ?? from, to })) {
    if (after !== undefined && Buffer.compare(key, after) === 0) continue
    if (!page.takes()) break
    page.add(key, value, -1, undefined)
  }
  return page
}

function readWindows(page: Page, store: WindowState, { key, from, to, skip }: QuestionOfTimes): PageOfRows {
  let left = skip
  store.fetch(key, from, to, (start, value) => {
    if (start === from && left > 0) {
      left -= 1
      return true
    }
    if (!page.takes()) return false
    page.add(key, value, start, undefined)
    return true
  })
  return page
}

function readSessions(page: Page, store: SessionState, { key, from, to, skip }: QuestionOfTimes): PageOfRows {
  let left = skip
  store.findSessions(key, from, to, (start, end, value) => {
    if (end === from && left > 0) {
      left -= 1
      return true
    }
    if (!page.takes()) return false
    page.add(key, value, start, end)
    return true
  })
  return page
}

function keyValue(store: AnyState): KeyValueState {
  return store.kind === 'keyValue' ? store : otherKind(store)
}

function versioned(store: AnyState): VersionedState {
  return store.kind === 'versioned' ? store : otherKind(store)
}

function windowed(store: AnyState): WindowState {
  return store.kind === 'window' ? store : otherKind(store)
}

function session(store: AnyState): SessionState {
  return store.kind === 'session' ? store : otherKind(store)
}

/** How each kind of store is read. */
const READ_BY: Record<AnyState['kind'], string> = {
  keyValue: 'it is read by `get`, `range` and `all`',
  versioned: 'it is read by `get` and `version`',
  window: 'it is read by `windows`',
  session: 'it is read by `sessions`',
  suppress: 'what a buffer holds back cannot be read',
}

function otherKind({ name, kind }: AnyState): never {
  throw new MillraceError('USAGE', { node: name, what: `The store ${name} is of the kind ${kind}: ${READ_BY[kind]}.` })
}
