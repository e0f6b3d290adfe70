import { isIP } from 'node:net'
import { MillraceError } from '../../model/errors.ts'
import type { SaslCredentials } from '../kafkajs-internals.ts'

/** What a listener speaks. Kafka: `security.protocol`. */
export type SecurityProtocol = 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL'

/** TLS material as PEM texts, already read. Kafka: `ssl.*`. */
export interface TlsOptions {
  /** Certificates of the authorities to trust. @default the ones Node trusts */
  readonly ca?: string
  /** Client certificate chain. */
  readonly cert?: string
  /** Key of the client certificate. */
  readonly key?: string
  readonly keyPassphrase?: string
  /** Name to verify, where the broker is reached by another one. @default the host */
  readonly serverName?: string
  /** Whether an unverified broker is refused. @default true */
  readonly rejectUnauthorized?: boolean
}

/** How a connection is protected and who we are. */
export interface SecurityOptions {
  readonly protocol: SecurityProtocol
  readonly ssl?: TlsOptions
  readonly sasl?: SaslCredentials
}

/** Whether the protocol begins with a TLS handshake. */
export function usesTls(protocol: SecurityProtocol): boolean {
  return protocol === 'SSL' || protocol === 'SASL_SSL'
}

/** Whether the protocol authenticates by SASL. */
export function usesSasl(protocol: SecurityProtocol): boolean {
  return protocol === 'SASL_PLAINTEXT' || protocol === 'SASL_SSL'
}

/** Whether the host is this machine, by name or address. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase()
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))
}

/** Whether the password would cross the network readable. */
export function sendsReadablePassword(security: SecurityOptions): boolean {
  return security.protocol === 'SASL_PLAINTEXT' && security.sasl?.mechanism === 'PLAIN'
}

/**
 * Refuses options that cannot be meant.
 *
 * @throws MillraceError `CONFIG_CONFLICT` for SASL without credentials, or for a readable password to another machine
 */
export function checkSecurity(security: SecurityOptions, host: string): void {
  if (usesSasl(security.protocol) && security.sasl === undefined) {
    throw new MillraceError('CONFIG_CONFLICT', {
      what: `security.protocol is ${security.protocol}, but there is no sasl.mechanism with sasl.username and sasl.password.`,
    })
  }
  if (sendsReadablePassword(security) && !isLoopback(host)) {
    throw new MillraceError('CONFIG_CONFLICT', {
      what: `SASL PLAIN without TLS would send the password of user ${security.sasl?.username ?? ''} readable over the network to ${host}.`,
      action: 'Use security.protocol SASL_SSL, or a SCRAM mechanism.',
    })
  }
}
