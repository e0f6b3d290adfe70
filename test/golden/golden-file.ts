import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** One golden file: where its samples come from, and the samples as JSON. */
export interface GoldenFile {
  /** Name without `.json` and `.gz`. */
  readonly name: string
  readonly samples: readonly JsonObject[]
}

/** Anything JSON can say. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** A JSON object. */
export interface JsonObject {
  readonly [name: string]: Json
}

/** A folder of golden files: the one that `GOLDEN_DIR` names, else that of the project; empty counts as not set. */
export function goldenDirectory(own: 'wire' | 'semantics', named = process.env['GOLDEN_DIR'] ?? ''): string {
  return named === '' ? join(process.cwd(), 'test', 'golden', own) : named
}

/** What `read` finds in a folder; without it, what the tests have to say instead: one sentence. */
export function foundIn<T>(directory: string, read: (directory: string) => T): T | Error {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    return new Error(`GOLDEN_DIR has to name a folder of golden files, and ${directory} is no folder`)
  try {
    return read(directory)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Every `.json` and `.json.gz` file of a directory, read; a directory without any is a mistake, not a success. */
export function readGoldenFiles(directory: string): GoldenFile[] {
  const files = readdirSync(directory)
    .filter(file => /\.json(\.gz)?$/.test(file))
    .toSorted()
    .map(file => {
      const bytes = readFileSync(join(directory, file))
      const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
      const json = JSON.parse(text) as JsonObject
      if (!Array.isArray(json['samples'])) throw new Error(`${file} has no list of samples`)
      return { name: file.replace(/\.json(\.gz)?$/, ''), samples: json['samples'] as readonly JsonObject[] }
    })
  if (files.length === 0) throw new Error(`no golden file is in ${directory}`)
  return files
}

/** A field that must be a string. */
export function stringOf(sample: JsonObject, field: string): string {
  const value = sample[field]
  if (typeof value !== 'string') throw new Error(`${field} is no string: ${JSON.stringify(value)}`)
  return value
}

/** A field that must be a number; integers beyond 2^53 are strings and not for this. */
export function numberOf(sample: JsonObject, field: string): number {
  const value = sample[field]
  if (typeof value !== 'number') throw new Error(`${field} is no number: ${JSON.stringify(value)}`)
  return value
}

/** A field of hexadecimal digits, as bytes. */
export function bytesOf(sample: JsonObject, field: string): Buffer {
  return Buffer.from(stringOf(sample, field), 'hex')
}

/** As `bytesOf`; null stays null. */
export function nullableBytesOf(sample: JsonObject, field: string): Buffer | null {
  return sample[field] === null ? null : bytesOf(sample, field)
}

/** A field that must be a list. */
export function listOf(sample: JsonObject, field: string): readonly JsonObject[] {
  const value = sample[field]
  if (!Array.isArray(value)) throw new Error(`${field} is no list: ${JSON.stringify(value)}`)
  return value as readonly JsonObject[]
}
