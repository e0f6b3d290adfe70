/** One record header: a name and its bytes, or `null`. Kafka Streams: `Header`. */
export type RecordHeader = readonly [name: string, value: Uint8Array | null]

/** The headers of a record: ordered, with repeated names allowed, immutable. Kafka Streams: `Headers`. */
export interface RecordHeaders extends Iterable<RecordHeader> {
  /** How many headers there are. */
  readonly size: number
  /** The value of the last header of that name; `undefined` when there is none. Kafka Streams: `lastHeader`. */
  get(name: string): Uint8Array | null | undefined
  /** As `get`, decoded as UTF-8. */
  getString(name: string): string | null | undefined
  /** The values of all headers of that name, in order. Kafka Streams: `headers(key)`. */
  getAll(name: string): readonly (Uint8Array | null)[]
  /** New headers with one more at the end; a string is encoded as UTF-8. Kafka Streams: `add`. */
  with(name: string, value: string | Uint8Array | null): RecordHeaders
  /** New headers without those of that name. Kafka Streams: `remove`. */
  without(name: string): RecordHeaders
}

/** Headers held as a list. */
class HeaderList implements RecordHeaders {
  readonly #list: readonly RecordHeader[]

  constructor(list: readonly RecordHeader[]) {
    this.#list = list
  }

  get size(): number {
    return this.#list.length
  }

  get(name: string): Uint8Array | null | undefined {
    return this.#list.findLast(header => header[0] === name)?.[1]
  }

  getString(name: string): string | null | undefined {
    const value = this.get(name)
    return value === undefined || value === null ? value : textOf(value)
  }

  getAll(name: string): readonly (Uint8Array | null)[] {
    return this.#list.filter(header => header[0] === name).map(header => header[1])
  }

  with(name: string, value: string | Uint8Array | null): RecordHeaders {
    return new HeaderList([...this.#list, [name, typeof value === 'string' ? Buffer.from(value) : value]])
  }

  without(name: string): RecordHeaders {
    return headersOf(this.#list.filter(header => header[0] !== name))
  }

  [Symbol.iterator](): Iterator<RecordHeader> {
    return this.#list[Symbol.iterator]()
  }
}

/** No headers; the same object always, so that the hot path can compare by identity. */
export const NO_HEADERS: RecordHeaders = new HeaderList([])

/** Headers of a list, in its order. */
export function headersOf(list: readonly RecordHeader[]): RecordHeaders {
  return list.length === 0 ? NO_HEADERS : new HeaderList(list)
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
