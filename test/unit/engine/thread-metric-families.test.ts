import { expect } from 'chai'
import { exposition } from '../../../src/engine/exposition.ts'
import { THREAD_METRICS, threadMetricFamilies } from '../../../src/engine/thread-metric-families.ts'
import { AGE_BUCKETS_SECONDS, DURATION_BUCKETS_SECONDS } from '../../../src/engine/histograms.ts'
import { aThreadSnapshot } from '../../support/thread-snapshot.ts'

const text = (...threads: ReturnType<typeof aThreadSnapshot>[]): string => exposition(threadMetricFamilies(threads))

describe('metrics of threads', () => {
  it('split the lag into what can be read and what open transactions hold back', () => {
    const partition = { topic: 'orders', partition: 3, task: '0_3', position: 10, committed: 8, fetchedTo: 14 }
    const lines = text(aThreadSnapshot({ partitions: [{ ...partition, lastStableOffset: 25, highWatermark: 40 }] }))
    expect(lines).to.include('millrace_lag_readable_records{thread="1",topic="orders",partition="3"} 15\n')
    expect(lines).to.include('millrace_lag_blocked_records{thread="1",topic="orders",partition="3"} 15\n')
    expect(lines).to.include('millrace_committed_offset{thread="1",topic="orders",partition="3"} 8\n')
  })

  it('count what is fetched and waits for its task', () => {
    const partition = { topic: 'orders', partition: 3, task: '0_3', position: 10, committed: 8, fetchedTo: 14 }
    const lines = text(aThreadSnapshot({ partitions: [{ ...partition, lastStableOffset: 25, highWatermark: 40 }] }))
    expect(lines).to.include('millrace_buffered_records{thread="1",topic="orders",partition="3"} 4\n')
  })

  it('tell records and bytes by topic', () => {
    const topics = [{ topic: 'a', recordsConsumed: 1, bytesConsumed: 2, recordsProduced: 3, bytesProduced: 4 }]
    const lines = text(aThreadSnapshot({ topics }))
    for (const [name, value] of [
      ['records_consumed', 1],
      ['bytes_consumed', 2],
      ['records_produced', 3],
      ['bytes_produced', 4],
    ])
      expect(lines).to.include(`millrace_${String(name)}_total{thread="1",topic="a"} ${String(value)}\n`)
  })

  it('give distances in time buckets of their own', () => {
    const counts = AGE_BUCKETS_SECONDS.map((_, index) => index)
    const lines = text(aThreadSnapshot({ latenessSeconds: { counts: [...counts, 100], sumSeconds: 9 } }))
    expect(lines).to.include('millrace_record_lateness_seconds_bucket{thread="1",le="0.001"} 0\n')
    expect(lines).to.include('millrace_record_lateness_seconds_bucket{thread="1",le="67108.864"} 91\n')
    expect(lines).to.include('millrace_record_lateness_seconds_bucket{thread="1",le="+Inf"} 191\n')
  })

  it('say nothing about a lag that is not known yet, and never a negative one', () => {
    const partition = {
      topic: 'orders',
      partition: 0,
      task: '0_0',
      position: 10,
      committed: undefined,
      fetchedTo: undefined,
    }
    const unknown = aThreadSnapshot({
      partitions: [{ ...partition, lastStableOffset: undefined, highWatermark: undefined }],
    })
    expect(text(unknown)).not.to.include('millrace_lag_readable_records')
    const behind = aThreadSnapshot({ partitions: [{ ...partition, lastStableOffset: 7, highWatermark: 7 }] })
    expect(text(behind)).to.match(/millrace_lag_readable_records\{[^}]*\} 0\n/)
  })

  it('make histograms cumulative, with an open bucket, a sum and a count', () => {
    const counts = [...DURATION_BUCKETS_SECONDS.map(() => 1), 2]
    const lines = text(aThreadSnapshot({ commitSeconds: { counts, sumSeconds: 1.5 } }))
    expect(lines).to.include('# TYPE millrace_commit_seconds histogram\n')
    expect(lines).to.include('millrace_commit_seconds_bucket{thread="1",le="0.001"} 1\n')
    expect(lines).to.include(`millrace_commit_seconds_bucket{thread="1",le="+Inf"} ${String(counts.length + 1)}\n`)
    expect(lines).to.include('millrace_commit_seconds_sum{thread="1"} 1.5\n')
    expect(lines).to.include(`millrace_commit_seconds_count{thread="1"} ${String(counts.length + 1)}\n`)
  })

  it('write each family once, whatever the number of threads', () => {
    const lines = text(aThreadSnapshot({ thread: '1' }), aThreadSnapshot({ thread: '2' }))
    expect(lines.match(/# TYPE millrace_records_processed_total counter/g)).to.have.length(1)
    expect(lines.match(/^millrace_records_processed_total\{/gm)).to.have.length(2)
  })

  it('escape labels, so that a name cannot forge a line', () => {
    const store = { task: '0_0', store: 'a"b\nc\\d', entries: 1, bytes: 2 }
    expect(text(aThreadSnapshot({ stores: [store] }))).to.include(String.raw`store="a\"b\nc\\d"`)
  })

  it('follow the naming rules of Prometheus', () => {
    for (const [name, { type }] of Object.entries(THREAD_METRICS)) {
      expect(name).to.match(/^millrace_[a-z_]+$/)
      expect(name.endsWith('_total')).to.equal(type === 'counter', name)
    }
  })
})
