import { nullable } from '../../src/serdes/nullable.ts'
import { string } from '../../src/serdes/text.ts'
import type { KStream } from '../../src/topology/dsl.ts'
import type { StreamsBuilder } from '../../src/topology/streams-builder.ts'

/** What a case notes in its `peek` and `foreach`. */
export type Note = (text: string) => void

/** Parameters of a case: the numbers in its name. */
export type CaseParams = Readonly<Record<string, unknown>>

/** Builds the topology of one case. */
export type CaseBuilder = (builder: StreamsBuilder, note: Note, params: CaseParams) => void

/** Serdes of text. */
export const text = { key: string, value: string }
/** Serdes of text that may be missing. */
export const nullableText = { key: nullable(string), value: nullable(string) }

/** The number in a value; −1 for null and `DEL`. */
export function num(value: string | null): number {
  return value === null || value === 'DEL' ? -1 : Number(value.slice(value.lastIndexOf(':') + 1))
}

/** Whether there is an even number. */
export function isEven(value: string | null): boolean {
  return value !== null && num(value) % 2 === 0
}

/** A stream of text. */
export function read(builder: StreamsBuilder, topic: string): KStream<string | null, string | null> {
  return builder.stream(topic, nullableText)
}

/** A parameter that is a number. */
export function numberOf(params: CaseParams, name: string): number {
  const value = params[name]
  if (typeof value !== 'number') throw new Error(`the case has no number ${name}`)
  return value
}
