import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../../model/clock.ts'
import { MillraceError, reasonOf } from '../../model/errors.ts'
import { formatAddress, type Address } from './address.ts'
import { explainOpenFailure } from './connection-errors.ts'
import { usesTls, type SecurityOptions } from './security-options.ts'

/** What a socket needs to be opened. */
export interface SocketOptions extends Address {
  readonly security: SecurityOptions
  readonly connectTimeoutMs: number
  readonly clock: Clock
}

/**
 * Opens a TCP or TLS connection; for TLS the broker's certificate and host are verified.
 *
 * @throws MillraceError `CONNECTION_LOST` (may pass), `AUTHENTICATION_FAILED` (a certificate was refused),
 *   `CONFIG_INVALID` (the PEM texts cannot be used)
 */
export function openSocket(options: SocketOptions): Promise<Socket> {
  const { security, connectTimeoutMs, clock } = options
  return new Promise((resolve, reject) => {
    const tls = usesTls(security.protocol)
    const socket = tls ? beginTls(options) : connectTcp({ host: options.host, port: options.port, noDelay: true })
    const deadline = clock.after(connectTimeoutMs, () => {
      fail(new Error(`not established within ${String(connectTimeoutMs)} ms`))
    })
    const connected = tls ? 'secureConnect' : 'connect'
    const onConnected = (): void => {
      settle()
      resolve(socket)
    }
    const onClose = (): void => {
      fail(new Error('closed by the other side'))
    }
    const fail = (cause: unknown): void => {
      settle()
      // An error may still follow, and one without a listener would end the process.
      socket.on('error', ignoreError)
      socket.destroy()
      reject(explainOpenFailure(options, security, cause))
    }
    const settle = (): void => {
      deadline.cancel()
      socket.off(connected, onConnected)
      socket.off('error', fail)
      socket.off('close', onClose)
    }
    socket.once(connected, onConnected)
    socket.once('error', fail)
    socket.once('close', onClose)
  })
}

function ignoreError(): void {
  // The failure was already reported.
}

function beginTls({ host, port, security }: SocketOptions): Socket {
  const ssl = security.ssl ?? {}
  const name = ssl.serverName ?? host
  try {
    const socket = connectTls({
      host,
      port,
      minVersion: 'TLSv1.2',
      rejectUnauthorized: ssl.rejectUnauthorized ?? true,
      // SNI knows no addresses (RFC 6066); the certificate is checked against `host` then.
      ...(isIP(name) === 0 ? { servername: name } : {}),
      ...(ssl.ca === undefined ? {} : { ca: ssl.ca }),
      ...(ssl.cert === undefined ? {} : { cert: ssl.cert }),
      ...(ssl.key === undefined ? {} : { key: ssl.key }),
      ...(ssl.keyPassphrase === undefined ? {} : { passphrase: ssl.keyPassphrase }),
    })
    socket.setNoDelay(true)
    return socket
  } catch (error) {
    throw new MillraceError('CONFIG_INVALID', {
      cause: error,
      what: `The ssl.* properties cannot be used for ${formatAddress({ host, port })}: ${reasonOf(error)}`,
      action: 'Give PEM texts that belong together: certificates, and the key with its passphrase.',
    })
  }
}
