import { NO_HEADERS } from '../../../src/model/headers.ts'
import { json } from '../../../src/serdes/json.ts'
import { string } from '../../../src/serdes/text.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { plainRecord } from './bench-log.ts'
import type { RunBench } from './run-bench.ts'

const text = { key: string, value: string }

/** Every record as it is. */
export function copy(builder: StreamsBuilder): void {
  builder.stream('in', text).to('out')
}

/** Counts per key: a store, a changelog, one subtopology. */
export function counts(builder: StreamsBuilder): void {
  builder
    .stream('in', { key: string })
    .groupByKey()
    .count({ store: 'counts' })
    .toStream()
    .mapValues(String)
    .to('out', { value: string })
}

/** Counts per value: a repartition topic between two subtopologies. */
export function countsByValue(builder: StreamsBuilder): void {
  builder
    .stream('in', text)
    .groupBy(value => value, { key: string, name: 'by-value' })
    .count({ store: 'counts' })
    .toStream()
    .mapValues(String)
    .to('out', { value: string })
}

/** A stream joined with a table: two inputs, whose order matters. */
export function joined(builder: StreamsBuilder): void {
  const table = builder.table('table', { ...text, store: 'rows' })
  builder
    .stream('in', text)
    .leftJoin(table, (value, row) => `${value}+${String(row)}`)
    .to('out', { value: string })
}

/** Numbers, of which some are none. */
export function numbers(builder: StreamsBuilder): void {
  builder.stream('in', { key: string, value: json<number>() }).to('out')
}

/** Writes input records into both partitions, the second transaction of each aborted. */
export function feed(bench: RunBench, records: number, topic = 'in'): void {
  for (let at = 0; at < records; at++) {
    const log = bench.log(topic, at % 2)
    log.entries.push(plainRecord(`k${String(at % 5)}`, `v${String(at % 3)}`, at))
    if (at % 7 === 6) abortedInput(bench, topic, at % 2)
  }
}

/** An input record whose transaction was aborted. */
export function abortedInput(bench: RunBench, topic: string, partition: number): void {
  const log = bench.log(topic, partition)
  const producer = { producerId: 5_000, producerEpoch: 1 }
  const record = plainRecord('k0', 'never', 1)
  log.entries.push({ ...record, ...producer }, { kind: 'marker', marker: 'abort', ...producer })
}

/** Counts per window without grace: late records depend on the time observed before. */
export function windows(builder: StreamsBuilder): void {
  builder
    .stream('in', { key: string })
    .groupByKey()
    .windowedBy({ tumbling: 10, grace: 0 })
    .count({ store: 'windows' })
    .toStream()
    .map((value, { key, start }) => [`${key}@${String(start)}`, String(value)])
    .to('out', { key: string, value: string })
}

/** One result per window, held back until it closes. */
export function suppressed(builder: StreamsBuilder): void {
  builder
    .stream('in', { key: string })
    .groupByKey()
    .windowedBy({ tumbling: 10, grace: 0 })
    .count({ store: 'windows' })
    .suppress({ until: 'windowCloses', name: 'held' })
    .toStream()
    .map((value, { key, start }) => [`${key}@${String(start)}`, String(value)])
    .to('out', { key: string, value: string })
}

/** Several results of one record, and some of none. */
export function manyOrNone(builder: StreamsBuilder): void {
  builder
    .stream('in', text)
    .flatMapValues(value => (value === 'v0' ? [] : [value, `${value}!`, value]))
    .to('out', { value: string })
}

/** Results by event time besides those of records: punctuations have no source record. */
export function punctuated(builder: StreamsBuilder): void {
  builder
    .stream('in', text)
    .process({
      key: string,
      value: string,
      init: ({ schedule, forward }) => {
        schedule({ every: 2, by: 'streamTime' }, now => {
          forward({ key: 'tick', value: String(now), timestamp: now, headers: NO_HEADERS })
        })
        return record => {
          forward(record)
        }
      },
    })
    .to('out')
}
