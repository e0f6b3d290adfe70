import { expect } from 'chai'
import { THREAD_METRICS } from '../../../src/engine/thread-metric-families.ts'
import { long, MillraceStreams, streams, string, type Topology } from '../../../src/index.ts'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { createTopic } from '../../support/test-cluster.ts'
import { PATIENCE_MS, useCaseRoom } from '../cases/case-room.ts'

/** Sum of a metric's samples; of a histogram, of its counts. */
function sumOf(text: string, name: string, labels = ''): number {
  const lines = text.split('\n').filter(line => new RegExp(String.raw`^${name}(_count)?\{`).test(line))
  return lines
    .filter(line => line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

/** Counts, counts in windows, ticks by the clock, and writes late and bad records elsewhere. */
function topologyOf(input: string): Topology {
  return streams(builder => {
    const source = builder.stream(input, { key: string, value: long })
    const byKey = source.groupByKey()
    byKey.count({ store: 'counts' }).toStream().to(`${input}-out`, { key: string, value: long })
    byKey.windowedBy({ tumbling: '1s', grace: 0 }).count({ store: 'windows' })
    source.process({
      init: ({ schedule }) => {
        schedule({ every: 20, by: 'wallClock' }, () => undefined)
        return () => undefined
      },
    })
  })
}

describe('the metrics of a running application', function () {
  this.timeout(120_000)
  const room = useCaseRoom()

  it('hold every metric, and each one moves', async () => {
    const input = await room().topic('in')
    await createTopic(room().admin, `${input}-out`)
    const id = uniqueName('app')
    const folder = await room().folder()
    const start = async (): Promise<MillraceStreams> => {
      const instance = new MillraceStreams({
        topology: topologyOf(input),
        config: {
          streams: { 'application.id': id, 'commit.interval.ms': 50, 'state.dir': folder },
          kafka: { 'bootstrap.servers': room().servers },
          errors: { deserialization: 'skip' },
          logging: { level: 'silent' },
        },
      })
      await instance.start()
      return instance
    }
    const now = Date.now()
    const value = Buffer.alloc(8)
    await room().write(input, [
      ...Array.from({ length: 50 }, (_, n) => ({ key: `k${String(n % 5)}`, value, timestamp: now - 60_000 + n })),
      { key: 'late', value, timestamp: now - 120_000 },
      { key: 'bad', value: 'no long', timestamp: now - 60_000 },
    ])

    const first = await start()
    let text = ''
    const settled = async (): Promise<boolean> => {
      text = await first.metrics()
      return sumOf(text, 'millrace_committed_offset') === 52 && sumOf(text, 'millrace_punctuate_seconds') > 0
    }
    await eventually('everything is committed', settled, PATIENCE_MS)
    expect(sumOf(text, 'millrace_records_consumed_total', `topic="${input}"`)).to.equal(52)
    expect(sumOf(text, 'millrace_records_produced_total', `topic="${input}-out"`)).to.equal(51)
    expect(sumOf(text, 'millrace_records_produced_total', `topic="${id}-counts-changelog"`)).to.equal(51)
    expect(sumOf(text, 'millrace_bytes_produced_total', `topic="${input}-out"`)).to.be.greaterThan(51)
    expect(sumOf(text, 'millrace_bytes_consumed_total', `topic="${input}"`)).to.be.greaterThan(52 * 8)
    expect(sumOf(text, 'millrace_dropped_records_total', 'reason="late"')).to.equal(1)
    expect(sumOf(text, 'millrace_dropped_records_total', 'reason="skipped"')).to.equal(1)
    expect(sumOf(text, 'millrace_record_lateness_seconds')).to.equal(1)
    const lateMs = /^millrace_record_lateness_seconds_sum\{.*\} (.*)$/m.exec(text)?.[1]
    expect(Number(lateMs)).to.equal((60_000 + 49) / 1_000)
    expect(sumOf(text, 'millrace_end_to_end_latency_seconds')).to.be.greaterThan(0)
    expect(text).to.match(/^millrace_end_to_end_latency_seconds_bucket\{[^}]*le="16.384"\} 0$/m)
    for (const name of ['poll', 'process', 'commit', 'punctuate']) {
      expect(sumOf(text, `millrace_${name}_seconds`), name).to.be.greaterThan(0)
    }
    expect(sumOf(text, 'millrace_buffered_records')).to.equal(0)
    // Counters of aborts stay away until there was one.
    const missing = Object.keys(THREAD_METRICS).filter(name => !text.includes(`# TYPE ${name} `))
    expect(missing).to.deep.equal(['millrace_aborts_total'])
    expect(text).to.include('nodejs_eventloop_lag_seconds')
    const before = sumOf(text, 'millrace_event_loop_delay_seconds', 'quantile="1"')
    expect(before).to.be.lessThan(60)

    first.pause()
    await room().write(input, [{ key: 'k', value, timestamp: now }])
    await eventually(
      'a record waits for a thread that is paused',
      async () => sumOf(await first.metrics(), 'millrace_buffered_records') > 0,
      PATIENCE_MS,
    )
    await first.close()

    const second = await start()
    try {
      const committed = async (): Promise<boolean> => {
        text = await second.metrics()
        return sumOf(text, 'millrace_committed_offset') === 53
      }
      await eventually('the record that waited is committed', committed, PATIENCE_MS)
      // 51 counts, and those of the windows but the late one.
      expect(sumOf(text, 'millrace_restored_records_total')).to.equal(51 + 50)
      expect(sumOf(text, 'millrace_restore_remaining_records')).to.equal(0)
      expect(sumOf(text, 'millrace_store_entries')).to.be.greaterThan(5)
    } finally {
      await second.close()
    }
  })
})
