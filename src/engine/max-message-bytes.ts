import { MAX_MESSAGE_BYTES_DEFAULT } from '../kafka/producer/accumulator.ts'

/** `max.message.bytes` among a topic's configurations; the broker's default where they may not be read. */
export function maxMessageBytesOf(configs: ReadonlyMap<string, string> | undefined): number {
  return Number(configs?.get('max.message.bytes') ?? MAX_MESSAGE_BYTES_DEFAULT)
}
