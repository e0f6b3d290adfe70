/**
 * Where the engine writes what it does: structured fields and one sentence. `pino` has this shape.
 * Fields and sentences never carry record bytes or secrets.
 */
export interface Logger {
  /** What only somebody who looks for a fault wants to read. */
  debug(fields: object, message: string): void
  /** What happens in normal operation, rarely. */
  info(fields: object, message: string): void
  /** What goes on by itself, but an operator may want to know. */
  warn(fields: object, message: string): void
  /** What needs an operator. */
  error(fields: object, message: string): void
}

/** Writes nothing: for tests, and for callers of the library that give no logger. */
export const SILENT_LOGGER: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
}
