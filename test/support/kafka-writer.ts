import { type JavaClientOf, sharedJavaClient } from './java-client.ts'

/** A record to write. */
export interface RecordToWrite {
  /** @default Java's partitioner chooses */
  readonly partition?: number
  /** @default now */
  readonly timestamp?: number
  readonly key?: string | Uint8Array | null
  readonly value?: string | Uint8Array | null
  readonly headers?: readonly (readonly [string, string | Uint8Array | null])[]
}

/** Where a record landed. */
export interface WrittenRecord {
  readonly partition: number
  readonly offset: number
}

/** A producer of the Java client. Several of them may have transactions open at once. */
export class KafkaWriter {
  readonly #client: JavaClientOf
  readonly #name: string

  private constructor(client: JavaClientOf, name: string) {
    this.#client = client
    this.#name = name
  }

  /**
   * @param properties - of the producer, such as `transactional.id`, `compression.type`, `batch.size`. Writers of one
   *   cluster with equal properties are one producer.
   */
  static async open(bootstrapServers: string, properties: Readonly<Record<string, string>> = {}): Promise<KafkaWriter> {
    const name = Object.entries(properties)
      .map(pair => pair.join('='))
      .join(';')
    return new KafkaWriter(await sharedJavaClient(bootstrapServers), name)
  }

  /** Writes records, waits for every acknowledgement, and says where they landed, in order. */
  async write(topic: string, records: readonly RecordToWrite[]): Promise<WrittenRecord[]> {
    const lines = await this.#client.command(['write', this.#name, topic, String(records.length)], records.map(lineOf))
    return lines.map(line => JSON.parse(line) as WrittenRecord)
  }

  async begin(): Promise<void> {
    await this.#client.command(['begin', this.#name])
  }

  async commit(): Promise<void> {
    await this.#client.command(['commit', this.#name])
  }

  async abort(): Promise<void> {
    await this.#client.command(['abort', this.#name])
  }

  /** Writes records in a transaction of their own. */
  async transaction(
    topic: string,
    records: readonly RecordToWrite[],
    end: 'commit' | 'abort',
  ): Promise<WrittenRecord[]> {
    await this.begin()
    const written = await this.write(topic, records)
    await (end === 'commit' ? this.commit() : this.abort())
    return written
  }

  async close(): Promise<void> {
    await this.#client.command(['close', this.#name])
  }
}

function lineOf({ partition = -1, timestamp = -1, key = null, value = null, headers = [] }: RecordToWrite): string {
  const fields = [String(partition), String(timestamp), hexOf(key), hexOf(value)]
  for (const [name, bytes] of headers) fields.push(hexOf(name), hexOf(bytes))
  return fields.join('\t')
}

function hexOf(bytes: string | Uint8Array | null): string {
  return bytes === null ? 'null' : Buffer.from(bytes as Uint8Array).toString('hex')
}
