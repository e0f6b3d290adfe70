// Lets each reading through once per device within a day, whatever the device sends again.
import { json, type MillraceConfig, streams, string } from 'millrace'

export const config: MillraceConfig = {
  streams: { 'application.id': 'deduplication' },
  kafka: { 'bootstrap.servers': process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? '127.0.0.1:9092' },
}

interface Reading {
  readonly id: string
  readonly celsius: number
}

export default streams(builder => {
  builder
    .stream('readings', { key: string, value: json<Reading>() })
    .dedupe(reading => reading.id, { within: '1d', store: 'seen-readings' })
    .to('unique-readings')
})
