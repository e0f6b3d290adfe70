// Page views per minute, final once the minute is over; what comes later goes to a topic of its own.
import { json, type MillraceConfig, streams, string } from 'millrace'

export const config: MillraceConfig = {
  streams: { 'application.id': 'late-data' },
  kafka: { 'bootstrap.servers': process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? '127.0.0.1:9092' },
}

interface View {
  readonly page: string
  readonly at: number
}

export default streams(builder => {
  builder
    .stream('views', { value: json<View>(), timestamp: view => view.at, onInvalidTimestamp: 'skip' })
    .groupBy(view => view.page, { key: string })
    .windowedBy({ tumbling: '1m', grace: '10s' }, { emit: 'final', late: { topic: 'late-views' } })
    .count({ store: 'views-per-minute', retention: '1d' }) // a minute that nobody looks at for hours is still emitted
    .toStream()
    .to('views-per-minute')
})
