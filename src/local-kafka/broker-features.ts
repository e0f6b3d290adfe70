import { connect } from 'node:net'
import {
  decodeResponseBody,
  decodeResponseHeader,
  encodeRequestBody,
  encodeRequestHeader,
} from '../kafka/protocol/api.ts'
import { unavailable } from './unavailable.ts'

const API_VERSIONS_VERSION = 3
const TIMEOUT_MS = 10_000
const RESPONSE_BYTES_MAX = 1_000_000

/**
 * Asks a broker for its finalized feature levels (ApiVersions, KIP-584), without TLS.
 *
 * @throws LOCAL_KAFKA_UNAVAILABLE when it does not answer
 */
export async function finalizedFeatures(port: number): Promise<ReadonlyMap<string, number>> {
  const header = encodeRequestHeader('ApiVersions', API_VERSIONS_VERSION, 1, 'millrace-local-kafka')
  const body = encodeRequestBody('ApiVersions', API_VERSIONS_VERSION, {
    clientSoftwareName: 'millrace',
    clientSoftwareVersion: '0',
  })
  const bytes = await exchange(port, Buffer.concat([header, body]))
  const { bodyOffset } = decodeResponseHeader('ApiVersions', API_VERSIONS_VERSION, bytes)
  const response = decodeResponseBody('ApiVersions', API_VERSIONS_VERSION, bytes.subarray(bodyOffset))
  return new Map(response.finalizedFeatures.map(({ name, maxVersionLevel }) => [name, maxVersionLevel]))
}

/** Sends one framed request and reads one framed response. */
function exchange(port: number, request: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const size = Buffer.alloc(4)
    size.writeInt32BE(request.length)
    let received = Buffer.alloc(0)
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.write(Buffer.concat([size, request]))
    })
    const fail = (what: string): void => {
      socket.destroy()
      reject(unavailable(`The broker at 127.0.0.1:${String(port)} does not answer: ${what}`))
    }
    socket.setTimeout(TIMEOUT_MS, () => {
      fail('no answer in time')
    })
    socket.on('error', error => {
      fail(error.message)
    })
    socket.on('close', () => {
      fail('it closed the connection')
    })
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (received.length > RESPONSE_BYTES_MAX) fail('its answer has no end')
      if (received.length < 4 || received.length < 4 + received.readInt32BE(0)) return
      socket.removeAllListeners('close').destroy()
      resolve(received.subarray(4, 4 + received.readInt32BE(0)))
    })
  })
}
