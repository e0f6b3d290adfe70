import { MillraceError } from '../../model/errors.ts'
import { decodeResponseBody, encodeRequestBody } from '../protocol/api.ts'
import { ERROR_CODE, kafkaErrorName } from '../protocol/error-codes.ts'
import { BrokerVersions } from './broker-versions.ts'
import { CLIENT_SOFTWARE } from './client-software.ts'

/** From 4 on the broker lists features whose lowest level is 0 too. */
const VERSION_WANTED = 4

/**
 * Asks the broker what it understands. A broker that does not know our version of the question answers in version 0
 * with error 35 and the versions it does know (KIP-511); then it is asked again.
 *
 * @param ask - one ApiVersions round trip: version and encoded body there, the answer's body back
 * @throws MillraceError `BROKER_TOO_OLD`, `KAFKA_ERROR`
 */
export async function negotiateVersions(
  ask: (version: number, body: Buffer) => Promise<Buffer>,
): Promise<BrokerVersions> {
  let version = VERSION_WANTED
  let bytes = await ask(version, encodeRequestBody('ApiVersions', version, CLIENT_SOFTWARE))
  if (errorCodeOf(bytes) === ERROR_CODE.UNSUPPORTED_VERSION) {
    version = versionOffered(bytes)
    bytes = await ask(version, encodeRequestBody('ApiVersions', version, CLIENT_SOFTWARE))
  }
  const kafkaCode = errorCodeOf(bytes)
  if (kafkaCode !== 0) {
    throw new MillraceError('KAFKA_ERROR', {
      kafkaCode,
      what: `The broker answered ApiVersions with ${kafkaErrorName(kafkaCode)}.`,
    })
  }
  return new BrokerVersions(decodeResponseBody('ApiVersions', version, bytes))
}

/** The code comes first in every version, so it can be read before the version of the answer is known. */
function errorCodeOf(bytes: Buffer): number {
  if (bytes.length < 2) throw new MillraceError('PROTOCOL_VIOLATION', { what: 'An ApiVersions answer is empty.' })
  return bytes.readInt16BE(0)
}

function versionOffered(bytes: Buffer): number {
  const range = new BrokerVersions(decodeResponseBody('ApiVersions', 0, bytes)).range('ApiVersions')
  return Math.min(VERSION_WANTED, range?.max ?? 0)
}
