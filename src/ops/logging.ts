import { createRequire } from 'node:module'
import { destination, pino, type DestinationStream, type Logger as PinoLogger } from 'pino'
import type * as PinoPretty from 'pino-pretty'
import { assert } from '../model/assert.ts'
import { errorFields } from '../model/error-fields.ts'
import type { Logger } from '../model/logger.ts'
import { oneLine } from '../model/one-line.ts'

/** Which lines are written, and how. */
export interface LoggingOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly format: 'json' | 'pretty'
  /** Where lines go. @default standard output, written synchronously so that the last line before an exit is not lost */
  readonly stream?: DestinationStream
}

/** The second guard: secrets are wrapped where they are read, and never reach a logger. */
const SECRET_FIELDS = ['password', 'sasl.password', 'ssl.key', 'key', 'keyPassphrase', 'token', 'authorization']
const REDACTED_PATHS = SECRET_FIELDS.flatMap(name => [`["${name}"]`, `*["${name}"]`])

/** The logger of the service: one line per event, fields bounded, secrets as `***`, line breaks of foreign texts escaped. */
export function createLogger({ level, format, stream }: LoggingOptions): Logger {
  const target = stream ?? destination({ dest: 1, sync: true })
  const output = format === 'json' ? target : prettyStream(target, stream === undefined)
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: { paths: REDACTED_PATHS, censor: '***' },
      serializers: { err: fieldsOfError },
    },
    output,
  )
  return new BoundedLogger(logger)
}

/** Formats within the call, unlike pino's transports, whose worker may lose the last lines before an exit. */
function prettyStream(target: DestinationStream, colorize: boolean): DestinationStream {
  // Loaded for a person at a terminal only: a service writes JSON, and starts sooner without it.
  const { prettyFactory } = prettyModule()
  const pretty = prettyFactory({ colorize, ignore: 'pid,hostname', singleLine: true, translateTime: 'SYS:HH:MM:ss.l' })
  return {
    write(line) {
      target.write(pretty(line))
    },
  }
}

function prettyModule(): typeof PinoPretty {
  const required: unknown = createRequire(import.meta.url)('pino-pretty')
  assert(isPinoPretty(required), 'pino-pretty makes formatters')
  return required
}

function isPinoPretty(module: unknown): module is typeof PinoPretty {
  return (typeof module === 'object' || typeof module === 'function') && module !== null && 'prettyFactory' in module
}

/** Hands on fields and sentence with every text on one line and of bounded length. */
class BoundedLogger implements Logger {
  readonly #logger: PinoLogger

  constructor(logger: PinoLogger) {
    this.#logger = logger
  }

  debug(fields: object, message: string): void {
    if (this.#logger.isLevelEnabled('debug')) this.#logger.debug(oneLineFields(fields), oneLine(message))
  }

  info(fields: object, message: string): void {
    this.#logger.info(oneLineFields(fields), oneLine(message))
  }

  warn(fields: object, message: string): void {
    this.#logger.warn(oneLineFields(fields), oneLine(message))
  }

  error(fields: object, message: string): void {
    this.#logger.error(oneLineFields(fields), oneLine(message))
  }
}

function oneLineFields(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'string' ? oneLine(value) : value,
    ]),
  )
}

function fieldsOfError(thrown: unknown): unknown {
  // What a worker posted is in that shape already.
  return typeof thrown === 'object' && thrown !== null && !(thrown instanceof Error) ? thrown : errorFields(thrown)
}
