import type { RecordHeaders } from '../model/headers.ts'
import { PROVENANCE_HEADER } from '../engine/provenance.ts'

/** What differs between machines and versions of Node although the application did the same. */
const UNSTABLE_HEADERS: ReadonlySet<string> = new Set([
  PROVENANCE_HEADER,
  '__streams.errors.stacktrace',
  '__streams.errors.message',
])

/** What two records are compared by. */
interface Comparable {
  readonly key: Buffer | null
  readonly value: Buffer | null
  /** `undefined` where the wall clock stamped it. */
  readonly timestamp: number | undefined
  readonly headers: RecordHeaders
}

/** Key, value, timestamp and headers as one text: equal texts are equal records. */
export function identityOf({ key, value, timestamp, headers }: Comparable): string {
  const parts = [hex(key), hex(value), timestamp === undefined ? '*' : String(timestamp)]
  for (const [name, held] of headers) {
    // A name may hold the separator.
    if (!UNSTABLE_HEADERS.has(name))
      parts.push(hex(Buffer.from(name)), held === null ? '-' : Buffer.from(held).toString('hex'))
  }
  return parts.join('|')
}

/** Bytes as hexadecimal text, `-` for none. */
export function hex(bytes: Uint8Array | null): string {
  return bytes === null ? '-' : Buffer.from(bytes).toString('hex')
}

/** Bytes for people: as text where it is printable. */
export function shown(bytes: Buffer | null): string {
  if (bytes === null) return 'null'
  const text = bytes.toString('utf8')
  const isText = /^[\u0020-\u007E\u00A0-\uFFFC]*$/u.test(text)
  const form = isText ? JSON.stringify(text) : `0x${bytes.toString('hex')}`
  return form.length > SHOWN_CHARACTERS_MAX ? `${form.slice(0, SHOWN_CHARACTERS_MAX)}…` : form
}

const SHOWN_CHARACTERS_MAX = 80
