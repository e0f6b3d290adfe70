import { expect } from 'chai'
import { decodeOffsetMetadata } from '../../../src/engine/offset-metadata.ts'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { committedOffsets, readTopic, type ReadRecord } from '../../support/kafka-reader.ts'
import type { RecordToWrite } from '../../support/kafka-writer.ts'
import { useCaseRoom, type CaseApplication } from '../cases/case-room.ts'
import { jvmCounter, JvmStreams } from './jvm-streams.ts'

const KEYS = 7
const PARTITIONS = 2
/** Records of one period. */
const PERIOD = 140

/** A word to count, as key or as value. */
const inputOf = (per: 'key' | 'value', from: number): RecordToWrite[] =>
  Array.from({ length: PERIOD }, (_, index) => {
    const word = `w${String((from + index) % KEYS)}`
    return per === 'key' ? { key: word, value: String(index) } : { key: `k${String(from + index)}`, value: word }
  })

/** The counts of each word in the order in which they were written. */
function countsOf(records: readonly ReadRecord[]): Map<string, number[]> {
  const counts = new Map<string, number[]>()
  for (const { key, value } of records) {
    const word = key?.toString() ?? 'null'
    counts.set(word, [...(counts.get(word) ?? []), Number(value?.readBigInt64BE() ?? 0n)])
  }
  return counts
}

/** Every word counted from one on, each count once, after so many periods. */
function exactCounts(periods: number): Map<string, number[]> {
  const each = (PERIOD * periods) / KEYS
  return new Map(
    Array.from({ length: KEYS }, (_, word) => [
      `w${String(word)}`,
      Array.from({ length: each }, (_unused, index) => index + 1),
    ]),
  )
}

const sorted = (counts: Map<string, number[]>): Record<string, number[]> =>
  Object.fromEntries([...counts].toSorted(([a], [b]) => a.localeCompare(b)))

describe('a Kafka Streams application of the JVM with the same id and topology', function () {
  this.timeout(600_000)
  const room = useCaseRoom()
  const counters: JvmStreams[] = []

  afterEach(async () => {
    await Promise.all(counters.splice(0).map(counter => counter.dispose()))
  })

  for (const per of ['key', 'value'] as const) {
    const how = per === 'key' ? 'a changelog' : 'a repartition topic and a changelog'

    it(`takes over from us and gives back over ${how}: every count goes on exactly`, async () => {
      const input = await room().topic('in', PARTITIONS)
      const output = await room().topic('out', PARTITIONS)
      const id = uniqueName('app')
      const ours: CaseApplication = {
        id,
        sources: { in: { topic: input, key: 'string', value: 'string' } },
        steps: { counts: { from: 'in', count: {}, ...(per === 'value' ? { groupBy: 'value' } : {}) } },
        sinks: { out: { from: 'counts', topic: output } },
      }
      const topics = per === 'key' ? [input] : [input, `${id}-counts-repartition`]
      const untilDone = (periods: number): Promise<void> =>
        eventually(
          `${String(PERIOD * periods)} counts are written and committed`,
          async () => {
            if ((await room().records(output)).length < PERIOD * periods) return false
            const lags = await Promise.all(topics.map(topic => lagOf(id, topic)))
            return lags.every(lag => lag === 0)
          },
          120_000,
        ).then(() => room().untilMarked(id))
      const lagOf = async (group: string, topic: string): Promise<number> => {
        const places = Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition }))
        const ends = await room().admin.listOffsets(places, 'latest', 'read_uncommitted')
        const committed = await room().offsets(group, topic, PARTITIONS)
        return places.reduce((lag, place, index) => lag + (ends.get(place) ?? 0) - (committed[index] ?? 0), 0)
      }
      const ourPeriod = async (periods: number, stateDir?: string): Promise<string> => {
        const process = await room().start(ours, stateDir === undefined ? {} : { stateDir })
        await room().write(input, inputOf(per, PERIOD * (periods - 1)))
        await untilDone(periods)
        expect(await process.terminate(), process.lines.join('\n')).to.deep.equal({ code: 0, signal: null })
        return process.stateDir
      }

      const stateDir = await ourPeriod(1)
      const metadata = async (): Promise<ReadonlyMap<string, number | bigint>[]> =>
        (await committedOffsets(room().servers, id)).map(
          committed => decodeOffsetMetadata(committed.metadata).variables,
        )
      for (const variables of await metadata())
        expect([...variables.keys()]).to.include.members(['millrace.txn', 'millrace.offset'])

      const counter = await JvmStreams.start(
        jvmCounter({ servers: room().servers, applicationId: id, input, output, per }),
      )
      counters.push(counter)
      await room().write(input, inputOf(per, PERIOD))
      await untilDone(2)
      await counter.close()
      expect(counter.lines.filter(line => /WARN|ERROR/.test(line) && line.includes('metadata'))).to.deep.equal([])
      // It carries on what it does not know, which is stale by now: the offset beside it tells.
      const [carried] = await metadata()
      expect([...(carried?.keys() ?? [])]).to.include('millrace.offset')

      await ourPeriod(3, stateDir)
      const counts = countsOf(await readTopic(room().servers, output))
      expect(sorted(counts)).to.deep.equal(sorted(exactCounts(3)))
      const changelog = new Map(
        (await readTopic(room().servers, `${id}-counts-changelog`)).map(({ key, value }) => [
          key?.toString() ?? 'null',
          [Number(value?.readBigInt64BE() ?? 0n)],
        ]),
      )
      const last = new Map([...exactCounts(3)].map(([word, all]) => [word, all.slice(-1)]))
      expect(sorted(changelog), 'the changelog of both').to.deep.equal(sorted(last))
      expect(await room().openTransactions(id)).to.deep.equal([])
    })
  }
})
