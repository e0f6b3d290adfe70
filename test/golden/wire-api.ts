import { expect } from 'chai'
import {
  type ApiName,
  apiOfKey,
  decode,
  decodeRequestHeader,
  decodeResponseHeader,
  encode,
  encodeRequestHeader,
  encodeResponseHeader,
  versionsOf,
} from '../../src/kafka/protocol/api.ts'
import { layoutOf } from '../../src/kafka/protocol/message-layout.ts'
import { REQUEST_SCHEMAS, RESPONSE_SCHEMAS } from '../../src/kafka/protocol/schemas.generated.ts'
import { bytesOf, type JsonObject, numberOf, stringOf } from './golden-file.ts'
import { fromKafkaJson, recordsIn, toKafkaJson, withoutRecordSizes } from './kafka-json.ts'

/** Claims that one request or response is read to its JSON and written back to its bytes. */
export function claimApiSample(sample: JsonObject): void {
  const api = apiOfKey(numberOf(sample, 'apiKey'))
  if (api === undefined) throw new Error(`api key ${String(numberOf(sample, 'apiKey'))} is unknown`)
  expect(api).to.equal(sample['api'])
  const version = numberOf(sample, 'version')
  expect(version).to.be.within(versionsOf(api).min, versionsOf(api).max)

  if (stringOf(sample, 'type') === 'request') claimRequestHeader(api, version, sample)
  else claimResponseHeader(api, version, sample)
  claimBody(api, version, sample)
}

function claimRequestHeader(api: ApiName, version: number, sample: JsonObject): void {
  const bytes = bytesOf(sample, 'headerHex')
  const clientId = sample['clientId'] === null ? null : stringOf(sample, 'clientId')
  const correlationId = numberOf(sample, 'correlationId')
  expect(decodeRequestHeader(bytes)).to.deep.equal({
    apiKey: sample['apiKey'],
    apiVersion: version,
    correlationId,
    clientId,
    bodyOffset: bytes.length,
  })
  if (sample['sample'] === 'unknown-tags') return
  expect(encodeRequestHeader(api, version, correlationId, clientId).toString('hex')).to.equal(sample['headerHex'])
}

function claimResponseHeader(api: ApiName, version: number, sample: JsonObject): void {
  const bytes = bytesOf(sample, 'headerHex')
  const correlationId = numberOf(sample, 'correlationId')
  expect(decodeResponseHeader(api, version, bytes)).to.deep.equal({ correlationId, bodyOffset: bytes.length })
  if (sample['sample'] === 'unknown-tags') return
  expect(encodeResponseHeader(api, version, correlationId).toString('hex')).to.equal(sample['headerHex'])
}

function claimBody(api: ApiName, version: number, sample: JsonObject): void {
  const schema = (sample['type'] === 'request' ? REQUEST_SCHEMAS : RESPONSE_SCHEMAS)[api]
  const layout = layoutOf(schema, version)
  const json = withoutRecordSizes(sample['body'] as JsonObject) as JsonObject
  const recordsHex = (sample['recordsHex'] ?? []) as readonly string[]
  const decoded = decode(schema, version, bytesOf(sample, 'bodyHex'), 'bigint')
  expect(toKafkaJson(layout, decoded)).to.deep.equal(json)
  expect(recordsIn(layout, decoded).map(bytes => bytes.toString('hex'))).to.deep.equal(recordsHex)

  // A writer of ours never writes tags it does not know.
  if (sample['sample'] === 'unknown-tags') return
  const records = recordsHex.map(hex => Buffer.from(hex, 'hex'))
  const body = fromKafkaJson(layout, json, records)
  expect(encode(schema, version, body).toString('hex')).to.equal(sample['bodyHex'])
}
