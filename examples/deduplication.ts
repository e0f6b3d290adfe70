// Lets each reading through once per device within a day, whatever the device sends again.
import { json, string, streams } from 'millrace'

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
