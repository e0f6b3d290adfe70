// Counts words. Reads lines of text (their keys do not matter), writes word → count so far.
import { string, streams } from 'millrace'

export default streams(builder => {
  builder
    .stream('lines', { value: string })
    .flatMapValues(line => line.toLowerCase().split(' '))
    .groupBy(word => word, { key: string, value: string })
    .count({ store: 'word-counts' })
    .toStream()
    .to('words')
})
