import { MillraceError } from './errors.ts'
import { oneLine } from './one-line.ts'

/** More of a stack shows where it began, not where it failed. */
const STACK_CHARACTERS_MAX = 4_000

/** An error as one field of a log line, `err`: plain data that survives the way between threads. */
export interface ErrorFields {
  /** Name of the class. */
  readonly type: string
  readonly message: string
  readonly [field: string]: unknown
}

/** What a log line says about a thrown value, in the shape of pino's standard serializer; code, place and cure where they are known. */
export function errorFields(thrown: unknown): ErrorFields {
  if (thrown instanceof MillraceError) return millraceErrorFields(thrown)
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: oneLine(String(thrown)) }
  const code = 'code' in thrown && typeof thrown.code === 'string' ? { code: thrown.code } : {}
  return { type: thrown.name, ...code, message: oneLine(thrown.message), stack: stackOf(thrown) }
}

function millraceErrorFields({ name, code, message, reaction, action, details, stack }: MillraceError): ErrorFields {
  const { topic, partition, offset, task, node, kafkaCode, cause } = details
  const place = Object.entries({ topic, partition, offset, task, node, kafkaCode })
  return {
    type: name,
    code,
    message: oneLine(message),
    reaction,
    action,
    ...Object.fromEntries(place.filter(([, value]) => value !== undefined)),
    // Only our own faults need the place in the code; a stack shows no data.
    ...(code === 'INTERNAL' ? { stack: cause instanceof Error ? stackOf(cause) : stack } : {}),
  }
}

function stackOf({ stack }: Error): string | undefined {
  return stack?.slice(0, STACK_CHARACTERS_MAX)
}
