import { CLIENT_PREFIXES, CLIENT_PROPERTIES } from './client-properties.ts'
import type { PropertyValue, PropertyValues } from './property-block.ts'
import { Secret } from './secret.ts'
import { STREAMS_PROPERTIES } from './streams-properties.ts'
import type { ProcessingGuarantee } from '../topology/properties.ts'

/** The properties of both blocks with their defaults, read by name. */
export class CheckedProperties {
  readonly #streams: PropertyValues
  readonly #kafka: PropertyValues

  constructor(streams: PropertyValues, kafka: PropertyValues) {
    this.#streams = streams
    this.#kafka = kafka
  }

  get guarantee(): ProcessingGuarantee {
    const given = this.#streams.get('processing.guarantee')
    return given === 'at_least_once' || given === 'at_most_once' ? given : 'exactly_once_v2'
  }

  /** Kafka Streams: 100 ms under exactly-once, so that readers do not wait long, else 30 s. */
  get commitIntervalMs(): number {
    const given = this.#streams.get('commit.interval.ms')
    return typeof given === 'number' ? given : this.guarantee === 'exactly_once_v2' ? 100 : 30_000
  }

  number(block: 'streams' | 'kafka', name: string): number {
    return Number(this.#valueOr(block, name))
  }

  boolean(block: 'streams' | 'kafka', name: string): boolean {
    return this.#valueOr(block, name) === true
  }

  text(block: 'streams' | 'kafka', name: string): string {
    return String(this.#valueOr(block, name) ?? '')
  }

  /** A client property without default; a secret is revealed here. */
  optional(name: string): string | undefined {
    const value = this.#client(name)
    if (value === undefined) return undefined
    return value instanceof Secret ? value.reveal() : String(value)
  }

  /** A client property that is one of some words. */
  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.#client(name)
    return choices.find(choice => choice === value)
  }

  /** Whether a property was written, with or without a prefix. */
  isGiven(name: string): boolean {
    return this.#client(name) !== undefined || this.#streams.has(name)
  }

  #valueOr(block: 'streams' | 'kafka', name: string): PropertyValue | undefined {
    const given = block === 'streams' ? this.#streams.get(name) : this.#client(name)
    const table = block === 'streams' ? STREAMS_PROPERTIES : CLIENT_PROPERTIES
    return given ?? table.find(property => property.name === name)?.default
  }

  /** A prefixed name is more special than the bare one, as in Kafka Streams. */
  #client(name: string): PropertyValue | undefined {
    for (const prefix of CLIENT_PREFIXES) {
      const special = this.#kafka.get(`${prefix}.${name}`)
      if (special !== undefined) return special
    }
    return this.#kafka.get(name)
  }
}
