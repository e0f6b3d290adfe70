import { MillraceError } from '../model/errors.ts'

/** The one message for every way in which a local Kafka cannot be had: it names what to provide. */
export function unavailable(what: string, cause?: unknown): MillraceError {
  return new MillraceError('LOCAL_KAFKA_UNAVAILABLE', cause === undefined ? { what } : { what, cause })
}
