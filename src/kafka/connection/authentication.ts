import { MillraceError, reasonOf } from '../../model/errors.ts'
import { runSaslExchange, type SaslCredentials } from '../kafkajs-internals.ts'
import { ERROR_CODE, kafkaErrorName } from '../protocol/error-codes.ts'
import type { ApiName, RequestBodies, ResponseBodies } from '../protocol/messages.generated.ts'
import { formatAddress, type Address } from './address.ts'

/** Sends one request past the gate that holds all others back while the connection authenticates. */
export type AuthenticationSend = <A extends 'SaslHandshake' | 'SaslAuthenticate'>(
  api: A & ApiName,
  body: RequestBodies[A],
) => Promise<ResponseBodies[A]>

/**
 * Authenticates a connection, at first or again (KIP-368).
 *
 * @returns how long the broker grants the session, in milliseconds; 0 = without end
 * @throws MillraceError `AUTHENTICATION_FAILED` naming mechanism and user, never the password
 */
export async function authenticate(
  send: AuthenticationSend,
  credentials: SaslCredentials,
  address: Address,
): Promise<number> {
  const { mechanism, username } = credentials
  const handshake = await send('SaslHandshake', { mechanism })
  if (handshake.errorCode === ERROR_CODE.UNSUPPORTED_SASL_MECHANISM) {
    throw new MillraceError('AUTHENTICATION_FAILED', {
      kafkaCode: handshake.errorCode,
      what: `The broker ${formatAddress(address)} does not offer ${mechanism} (user ${username}); it offers: ${handshake.mechanisms.join(', ')}.`,
      action: 'Set sasl.mechanism to one that the listener offers.',
    })
  }
  if (handshake.errorCode !== 0) throw refused(credentials, address, handshake.errorCode, null)

  let sessionLifetimeMs = 0
  const exchange = async (authBytes: Buffer): Promise<Buffer> => {
    const answer = await send('SaslAuthenticate', { authBytes })
    if (answer.errorCode !== 0) throw refused(credentials, address, answer.errorCode, answer.errorMessage)
    sessionLifetimeMs = answer.sessionLifetimeMs
    return answer.authBytes
  }
  try {
    await runSaslExchange(credentials, address, exchange)
  } catch (error) {
    if (error instanceof MillraceError) throw error
    throw new MillraceError('AUTHENTICATION_FAILED', {
      cause: error,
      what: `The ${mechanism} exchange with ${formatAddress(address)} as user ${username} failed: ${reasonOf(error)}`,
    })
  }
  return sessionLifetimeMs
}

function refused(
  { mechanism, username }: SaslCredentials,
  address: Address,
  kafkaCode: number,
  text: string | null,
): MillraceError {
  const said = text === null || text === '' ? kafkaErrorName(kafkaCode) : reasonOf(text)
  return new MillraceError('AUTHENTICATION_FAILED', {
    kafkaCode,
    what: `The broker ${formatAddress(address)} refused ${mechanism} for user ${username}: ${said}`,
  })
}
