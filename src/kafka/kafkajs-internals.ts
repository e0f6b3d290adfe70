import type plain from 'kafkajs/src/broker/saslAuthenticator/plain.js'

/**
 * The one file that reaches into kafkajs (2.2.4, pinned exactly because these paths are no public surface).
 * What is used: its SASL authenticators, which speak through a callback of ours and need none of its connections.
 */

/** The SASL mechanisms that are supported. Kafka: `sasl.mechanism`. */
export type SaslMechanism = 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'

/** Loaded when somebody authenticates: most of kafkajs comes along, and plain connections need none of it. */
const PROVIDERS: Readonly<Record<SaslMechanism, () => Promise<{ readonly default: typeof plain }>>> = {
  PLAIN: () => import('kafkajs/src/broker/saslAuthenticator/plain.js'),
  'SCRAM-SHA-256': () => import('kafkajs/src/broker/saslAuthenticator/scram256.js'),
  'SCRAM-SHA-512': () => import('kafkajs/src/broker/saslAuthenticator/scram512.js'),
}

/** Whom to authenticate as. */
export interface SaslCredentials {
  readonly mechanism: SaslMechanism
  readonly username: string
  readonly password: string
}

const LENGTH_BYTES = 4

/**
 * Runs the client's side of a SASL exchange after the handshake.
 *
 * @param exchange - one SaslAuthenticate round trip: the mechanism's bytes there and back
 * @throws what `exchange` throws, or kafkajs's error when the broker's proof is wrong
 */
export async function runSaslExchange(
  credentials: SaslCredentials,
  address: { readonly host: string; readonly port: number },
  exchange: (bytes: Buffer) => Promise<Buffer>,
): Promise<void> {
  const failure: { thrown?: unknown } = {}
  const { default: provider } = await PROVIDERS[credentials.mechanism]()
  const authenticator = provider(credentials)({
    ...address,
    // Its error lines repeat what is thrown; ours name the user and the cure.
    logger: { debug() {}, error() {} },
    async saslAuthenticate({ request, response }) {
      const bytes = (await request.encode()).subarray(LENGTH_BYTES)
      const answer = await exchange(bytes).catch((error: unknown) => {
        failure.thrown = error
        throw error
      })
      if (response === undefined) return undefined
      return response.parse(await response.decode(withLength(answer)))
    },
  })
  try {
    await authenticator.authenticate()
  } catch (error) {
    // kafkajs wraps what `exchange` threw into an error of its own and loses the type.
    throw 'thrown' in failure ? failure.thrown : error
  }
}

function withLength(bytes: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(LENGTH_BYTES + bytes.length)
  framed.writeInt32BE(bytes.length, 0)
  framed.set(bytes, LENGTH_BYTES)
  return framed
}
