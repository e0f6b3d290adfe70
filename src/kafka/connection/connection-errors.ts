import { MillraceError, reasonOf } from '../../model/errors.ts'
import { formatAddress, type Address } from './address.ts'
import { usesSasl, usesTls, type SecurityOptions } from './security-options.ts'

/** Node's codes for a certificate whose issuer is not trusted. */
const UNTRUSTED = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
])

/** Why a certificate is refused for itself. */
const REFUSED_CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  CERT_REVOKED: 'was revoked',
  CERT_SIGNATURE_FAILURE: 'has a wrong signature',
}

/** The system's or OpenSSL's name of an error, such as `ECONNREFUSED`. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/**
 * What went wrong while a socket was opened, as a person understands it. A certificate that is refused by either side
 * is final (`AUTHENTICATION_FAILED`); everything else may pass (`CONNECTION_LOST`).
 */
export function explainOpenFailure(address: Address, security: SecurityOptions, cause: unknown): MillraceError {
  const broker = formatAddress(address)
  const code = codeOf(cause)
  if (usesTls(security.protocol)) {
    const refused = explainCertificate(address, security, cause)
    if (refused !== undefined) return refused
    if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG' || code === 'ECONNRESET') {
      return new MillraceError('CONNECTION_LOST', {
        cause,
        what: `The TLS handshake with ${broker} failed (${reasonOf(cause)}): the listener may not speak TLS.`,
        action: 'Compare security.protocol with the listener; check the port.',
      })
    }
  }
  return new MillraceError('CONNECTION_LOST', { cause, what: `No connection to ${broker}: ${reasonOf(cause)}` })
}

function explainCertificate(address: Address, security: SecurityOptions, cause: unknown): MillraceError | undefined {
  const broker = formatAddress(address)
  const code = codeOf(cause) ?? ''
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return new MillraceError('AUTHENTICATION_FAILED', {
      cause,
      what: `The certificate of ${broker} is not valid for the host ${security.ssl?.serverName ?? address.host}: ${reasonOf(cause)}`,
      action: 'Reach the broker by a name that its certificate holds.',
    })
  }
  if (UNTRUSTED.has(code)) {
    return new MillraceError('AUTHENTICATION_FAILED', {
      cause,
      what: `The certificate of ${broker} comes from an authority that is not trusted here (${code}).`,
      action: "Set ssl.ca to the authority's certificate.",
    })
  }
  const why = REFUSED_CERTIFICATE[code]
  if (why !== undefined) {
    return new MillraceError('AUTHENTICATION_FAILED', {
      cause,
      what: `The certificate of ${broker} ${why}.`,
      action: 'Renew the certificate of the broker.',
    })
  }
  return isCertificateAlert(cause) ? refusedByPeer(address, security, cause) : undefined
}

/** Whether the broker refused *our* certificate. With TLS 1.3 this may arrive only after the handshake. */
export function isCertificateAlert(cause: unknown): boolean {
  const code = codeOf(cause) ?? ''
  return (
    code.startsWith('ERR_SSL') &&
    code.includes('ALERT') &&
    (code.includes('CERTIFICATE') || code.includes('UNKNOWN_CA'))
  )
}

/** The broker refused our certificate, or missed one. */
export function refusedByPeer(address: Address, security: SecurityOptions, cause: unknown): MillraceError {
  const broker = formatAddress(address)
  return security.ssl?.cert === undefined
    ? new MillraceError('AUTHENTICATION_FAILED', {
        cause,
        what: `The broker ${broker} asks for a client certificate (${codeOf(cause) ?? 'TLS alert'}).`,
        action: 'Set ssl.cert and ssl.key.',
      })
    : new MillraceError('AUTHENTICATION_FAILED', {
        cause,
        what: `The broker ${broker} refused the client certificate (${codeOf(cause) ?? 'TLS alert'}).`,
        action: "Use a certificate that the broker's authorities signed and that is still valid.",
      })
}

/** The broker hung up before it answered anything: there is no text, so this can only guess. */
export function explainSilentClose(address: Address, security: SecurityOptions, cause: unknown): MillraceError {
  const wants = [
    usesTls(security.protocol) ? undefined : 'TLS',
    usesSasl(security.protocol) ? undefined : 'SASL authentication',
  ].filter(want => want !== undefined)
  const guess = wants.length === 0 ? 'it may be starting or stopping' : `the listener may want ${wants.join(' or ')}`
  return new MillraceError('CONNECTION_LOST', {
    cause,
    what: `The broker ${formatAddress(address)} closed the connection without an answer: ${guess} (security.protocol is ${security.protocol}).`,
    action: 'Compare security.protocol with the listener of that port.',
  })
}
