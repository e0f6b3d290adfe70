import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
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

/** A socket that is open, and the bytes that arrive. */
export interface OpenSocket {
  readonly socket: Socket
  /** Gives what arrives from now on to one listener; a chunk is its own only during the call. */
  readonly onChunk: (listener: (chunk: Buffer) => void) => void
}

/** As much as a broker sends at once; more only means another call. */
const READ_BYTES = 131_072

/**
 * Opens a TCP or TLS connection; for TLS the broker's certificate and host are verified.
 *
 * @throws MillraceError `CONNECTION_LOST` (may pass), `AUTHENTICATION_FAILED` (a certificate was refused),
 *   `CONFIG_INVALID` (the PEM texts cannot be used)
 */
export function openSocket(options: SocketOptions): Promise<OpenSocket> {
  const { security, connectTimeoutMs, clock } = options
  return new Promise((resolve, reject) => {
    const tls = usesTls(security.protocol)
    const { onread, onChunk } = readIntoOneBuffer()
    const socket = tls
      ? beginTls(options, onread)
      : connectTcp({ host: options.host, port: options.port, noDelay: true, onread })
    const deadline = clock.after(connectTimeoutMs, () => {
      fail(new Error(`not established within ${String(connectTimeoutMs)} ms`))
    })
    const connected = tls ? 'secureConnect' : 'connect'
    const onConnected = (): void => {
      settle()
      resolve({ socket, onChunk })
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

/** A buffer for each read would be garbage that its bytes are copied from once, and drive the collector. */
function readIntoOneBuffer(): { readonly onread: OnReadOpts; readonly onChunk: OpenSocket['onChunk'] } {
  let listener: ((chunk: Buffer) => void) | undefined
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
  const callback = (length: number): boolean => {
    listener?.(buffer.subarray(0, length))
    return true
  }
  return {
    onread: { buffer, callback },
    onChunk: given => {
      listener = given
    },
  }
}

function ignoreError(): void {
  // The failure was already reported.
}

function beginTls({ host, port, security }: SocketOptions, onread: OnReadOpts): Socket {
  const ssl = security.ssl ?? {}
  const name = ssl.serverName ?? host
  // Node.js knows `onread` here too, its types do not.
  const connecting: ConnectionOptions & { readonly onread: OnReadOpts } = {
    host,
    port,
    onread,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: ssl.rejectUnauthorized ?? true,
    // SNI knows no addresses (RFC 6066); the certificate is checked against `host` then.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(ssl.ca === undefined ? {} : { ca: ssl.ca }),
    ...(ssl.cert === undefined ? {} : { cert: ssl.cert }),
    ...(ssl.key === undefined ? {} : { key: ssl.key }),
    ...(ssl.keyPassphrase === undefined ? {} : { passphrase: ssl.keyPassphrase }),
  }
  try {
    const socket = connectTls(connecting)
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
