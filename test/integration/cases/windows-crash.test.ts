import { expect } from 'chai'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import type { RecordToWrite } from '../../support/kafka-writer.ts'
import { PATIENCE_MS, useCaseRoom, type CaseApplication } from './case-room.ts'

const PARTITIONS = 2
/** Records that each life finds, or gets while it runs. */
const CHUNK = 36
/** Where each life ends: before, inside and behind what makes its transaction visible. */
const DEATHS = ['flush:done', 'txnOffsetCommit:answered', 'endTxn:answered'] as const

const OUTPUTS = [
  'tumbling',
  'hopping',
  'sliding',
  'sessions',
  'limited',
  'closed',
  'inner',
  'left',
  'outer',
  'late',
] as const

/** The records of one side. */
function sideOf(letter: string): object {
  return { from: 'in', filter: `value.startsWith("${letter}")` }
}

/** Pairs of both sides. */
function pairsOf(type: string): object {
  return {
    from: 'lefts',
    join: {
      with: 'rights',
      type,
      within: '4s',
      grace: '1s',
      value: '(left == null ? "-" : left) + "/" + (right == null ? "-" : right)',
    },
    serdes: { value: 'string' },
  }
}

/** Counts in windows. */
function countsIn(window: object): object {
  return { from: 'in', window: { ...window, grace: '2s' }, count: {} }
}

/** Windows, suppressed results and joins of two streams, all of one topic, so that each partition decides the order of its results. */
function application(input: string): CaseApplication {
  const id = uniqueName('crash')
  const steps = {
    lefts: sideOf('L'),
    rights: sideOf('R'),
    tumbling: { ...countsIn({ tumbling: '10s' }), late: { topic: `${id}-late` } },
    hopping: countsIn({ hopping: '10s', every: '4s' }),
    sliding: countsIn({ sliding: '3s' }),
    sessions: countsIn({ session: '2s' }),
    limited: { from: 'tumbling', suppress: { until: '5s', maxRecords: 4 } },
    closed: { from: 'tumbling', suppress: { until: 'windowCloses' } },
    inner: pairsOf('inner'),
    left: pairsOf('left'),
    outer: pairsOf('outer'),
  }
  const sinks = OUTPUTS.filter(name => name !== 'late').map(name => [
    `to-${name}`,
    { from: name, topic: `${id}-${name}` },
  ])
  return {
    id,
    sources: { in: { topic: input, key: 'string', value: 'string' } },
    steps,
    sinks: Object.fromEntries(sinks) as Record<string, unknown>,
  }
}

/** The nth record: event time goes on by half a second, every sixth record lies up to 15 s behind. */
function recordOf(n: number, startMs: number): RecordToWrite {
  return {
    key: `k${String(n % 5)}`,
    value: `${(n * 7) % 3 === 0 ? 'R' : 'L'}${String(n)}`,
    timestamp: startMs + n * 500 - (n % 6 === 5 ? (n * 1_237) % 15_000 : 0),
  }
}

describe('windows, suppressed results and joins of streams over kill -9', function () {
  this.timeout(300_000)
  const room = useCaseRoom()

  async function withTopics(app: CaseApplication): Promise<CaseApplication> {
    await room().admin.createTopics(
      OUTPUTS.map(name => ({ name: `${app.id}-${name}`, partitions: PARTITIONS, replicationFactor: 1, configs: {} })),
    )
    return app
  }

  /** Everything that an application has written, a line for each record, by output and partition. */
  async function resultsOf({ id }: CaseApplication): Promise<Record<string, readonly string[]>> {
    await eventually(
      `${id} has nothing open`,
      async () => (await room().openTransactions(id)).length === 0,
      PATIENCE_MS,
    )
    const results: Record<string, string[]> = {}
    for (const output of OUTPUTS) {
      for (const { partition, key, value, timestamp } of await room().records(`${id}-${output}`)) {
        const line = `${key?.toString('hex') ?? '-'} ${value?.toString('hex') ?? '-'} ${String(timestamp)}`
        ;(results[`${output}-${String(partition)}`] ??= []).push(line)
      }
    }
    return results
  }

  it('gives the results of a run that nothing disturbs, each once and in the same order', async () => {
    const input = await room().topic('in', PARTITIONS)
    const [calm, killed] = [await withTopics(application(input)), await withTopics(application(input))]
    const startMs = Math.floor(Date.now() / 60_000) * 60_000 - 600_000
    let written = 0
    const writeChunk = async (): Promise<void> => {
      await room().write(
        input,
        Array.from({ length: CHUNK }, (_, at) => recordOf(written + at, startMs)),
      )
      written += CHUNK
    }
    await room().start(calm)
    let stateDir: string | undefined
    for (const point of DEATHS) {
      await writeChunk()
      const life = await room().start(killed, {
        env: { MILLRACE_TEST_CRASH_AT: point },
        ...(stateDir === undefined ? {} : { stateDir }),
      })
      stateDir = life.stateDir
      expect(await life.untilExit(PATIENCE_MS), `killed at ${point}`).to.deep.equal({ code: null, signal: 'SIGKILL' })
    }
    await writeChunk()
    await room().start(killed, stateDir === undefined ? {} : { stateDir })
    const places = [0, 1].map(partition => ({ topic: input, partition }))
    const ends = await room().admin.listOffsets(places, 'latest', 'read_committed')
    const wanted = places.map(place => ends.get(place) ?? -1)
    for (const { id } of [calm, killed]) await room().untilOffsets(id, input, wanted)
    const [undisturbed, results] = [await resultsOf(calm), await resultsOf(killed)]
    expect(
      Object.keys(undisturbed).map(place => place.replace(/-\d$/, '')),
      'every output has results',
    ).to.include.members([...OUTPUTS])
    expect(results).to.deep.equal(undisturbed)
  })
})
