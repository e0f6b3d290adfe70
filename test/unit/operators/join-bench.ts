import { nullable } from '../../../src/serdes/nullable.ts'
import { string } from '../../../src/serdes/text.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import type { StreamsProperties } from '../../../src/topology/properties.ts'
import { streams } from '../../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'

/** Serdes of records without nulls. */
export const TEXT = { key: string, value: string }
/** Serdes of records that may have nulls. */
export const NULLS = { key: nullable(string), value: nullable(string) }

/** Joins two values visibly. */
export function pair(left: string | null, right: string | null): string {
  return `${String(left)}/${String(right)}`
}

/** A join of the topics `left` and `right` to `out`, fed by hand. */
export class JoinBench {
  readonly #driver: TestDriver

  constructor(define: (builder: StreamsBuilder) => void, properties: Partial<StreamsProperties> = {}) {
    this.#driver = new TestDriver(streams(define), { streams: properties })
  }

  left(key: string | null, value: string | null, timestamp: number): this {
    this.#driver.input('left', NULLS).pipe(key, value, timestamp)
    return this
  }

  right(key: string | null, value: string | null, timestamp: number): this {
    this.#driver.input('right', NULLS).pipe(key, value, timestamp)
    return this
  }

  /** Results since the last call, as `key=value@timestamp`. */
  results(): string[] {
    return this.#driver
      .output('out', NULLS)
      .readAll()
      .map(({ key, value, timestamp }) => `${String(key)}=${String(value)}@${String(timestamp)}`)
  }

  /** How often records were dropped, by reason. */
  get dropped(): Record<string, number> {
    return Object.fromEntries(this.#driver.dropped)
  }
}
