// Counts words. Reads lines of text (their keys do not matter), writes word → count so far.
import { type MillraceConfig, streams, string } from 'millrace'

export const config: MillraceConfig = {
  streams: { 'application.id': 'word-count' },
  kafka: { 'bootstrap.servers': process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? '127.0.0.1:9092' },
}

export default streams(builder => {
  builder
    .stream('lines', { value: string })
    .flatMapValues(line => line.toLowerCase().split(' '))
    .groupBy(word => word, { key: string, value: string })
    .count({ store: 'word-counts' })
    .toStream()
    .to('words')
})
