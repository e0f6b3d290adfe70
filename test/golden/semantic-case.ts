import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** A key or value as a golden file writes it. */
export type Rendered = string | number | null | { readonly key: string; readonly start: number; readonly end: number }

/** A record as a golden file writes it. */
export interface GoldenRecord {
  readonly topic: string
  readonly key: Rendered
  readonly value: Rendered
  readonly timestamp: number | null
  readonly headers?: readonly (readonly [string, string | null])[]
  /** Bytes of a windowed key; in some files. */
  readonly keyHex?: string | null
  readonly afterInput: number
}

/** A record of an internal topic, as bytes. */
export interface GoldenBytes {
  readonly topic: string
  readonly keyHex: string | null
  readonly valueHex: string | null
  readonly timestamp: number | null
  readonly headersHex?: readonly (readonly [string, string | null])[]
  readonly afterInput: number
}

/** One event of a run. */
export type GoldenInput =
  | (Omit<GoldenRecord, 'afterInput' | 'key' | 'value' | 'timestamp'> & {
      readonly event?: undefined
      readonly key: string | null
      readonly value: string | null
      readonly timestamp: number
    })
  | { readonly event: 'advanceWallClock'; readonly ms: number }
  | { readonly event: 'commit' }

/** A file made by Kafka Streams: what went in, and all that came out. */
export interface SemanticCase {
  readonly case: string
  readonly seed: number
  readonly params: Readonly<Record<string, unknown>>
  readonly config: Readonly<Record<string, unknown>>
  readonly initialWallClock: number
  readonly commitMode: string
  readonly serdes: Readonly<Record<string, readonly [string, string]>>
  readonly topology: readonly string[]
  readonly inputs: readonly GoldenInput[]
  readonly outputs: readonly GoldenRecord[]
  readonly sideEffects?: readonly { readonly note: string; readonly afterInput: number }[]
  readonly error?: string
  readonly errorAtInput?: number
  readonly stores?: Readonly<Record<string, readonly { readonly key: Rendered; readonly value: Rendered; readonly timestamp?: number }[]>>
  readonly internalTopics: readonly GoldenBytes[]
  readonly changelogs?: readonly GoldenBytes[]
  readonly changelogDigests?: Readonly<Record<string, { readonly count: number; readonly sha256: string }>>
}

/**
 * Every case of a folder, by file name; a folder without any is a mistake, not a success. Files of another form, such as wire
 * vectors, are passed over.
 */
export function readSemanticCases(directory: string): ReadonlyMap<string, SemanticCase> {
  const cases = new Map<string, SemanticCase>()
  for (const file of readdirSync(directory).toSorted()) {
    if (!/\.json(\.gz)?$/.test(file)) continue
    const bytes = readFileSync(join(directory, file))
    const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
    const json = JSON.parse(text) as SemanticCase | { readonly case?: undefined }
    if (json.case !== undefined) cases.set(file.replace(/\.json(\.gz)?$/, ''), json)
  }
  if (cases.size === 0) throw new Error(`no golden file of a topology is in ${directory}`)
  return cases
}
