import type { SecurityConfig } from '../config/engine-config.ts'
import { MillraceError } from '../model/errors.ts'

/** As whom brokers know the application. Kafka: `KafkaPrincipal`, by the default builder. */
export function principalOf({ protocol, sasl }: SecurityConfig): string {
  if (sasl !== undefined) return `User:${sasl.username}`
  return protocol === 'SSL' ? 'the subject of the client certificate (User:CN=…)' : 'User:ANONYMOUS'
}

/** Adds to a missing right who lacks it: operation and resource are known where the broker refused, the login is not. */
export function withPrincipal(error: MillraceError, security: SecurityConfig): MillraceError {
  const principal = principalOf(security)
  if (error.code !== 'NOT_AUTHORIZED' || error.action.includes(principal)) return error
  const named = new MillraceError(error.code, {
    ...error.details,
    reaction: error.reaction,
    action: `${error.action} The principal is ${principal}.`,
  })
  named.message = error.message
  if (error.stack !== undefined) named.stack = error.stack
  return named
}
