import { expect } from 'chai'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { long, MillraceStreams, string, type Topology } from '../../../src/index.ts'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { stateTopology } from '../../support/programs/state-topology.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { useCaseRoom } from '../cases/case-room.ts'

const PARTITIONS = 4
const KEYS = Array.from({ length: 12 }, (_, at) => `k${String(at)}`)
const MINUTE_MS = 60_000
const counted = { key: string, value: long }
const text = { key: string, value: string }

async function listOf<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const entry of entries) list.push(entry)
  return list
}

function shareOf(app: MillraceStreams): number {
  return app.tasks().filter(({ state }) => state === 'running').length
}

describe('reads of the stores of a running instance', function () {
  this.timeout(120_000)
  const room = useCaseRoom()
  const instances: MillraceStreams[] = []
  const folders: string[] = []

  afterEach(async function () {
    this.timeout(60_000)
    await Promise.all(instances.splice(0).map(instance => instance.close()))
    await Promise.all(folders.splice(0).map(folder => rm(folder, { recursive: true, force: true })))
  })

  interface Names {
    readonly id: string
    readonly input: string
    readonly facts: string
    readonly output: string
  }

  async function newNames(): Promise<Names> {
    const [input, facts, output] = await Promise.all(['in', 'facts', 'out'].map(name => room().topic(name, PARTITIONS)))
    if (input === undefined || facts === undefined || output === undefined) throw new Error('no topics')
    return { id: uniqueName('reads'), input, facts, output }
  }

  /** An instance of the topology, in worker threads or, as an object, on this thread. */
  function instanceOf(
    names: Names,
    {
      threads = 0,
      streams: more = {},
      life = 'a',
      kafka = {},
    }: { readonly threads?: number; readonly streams?: object; readonly life?: string; readonly kafka?: object } = {},
  ): MillraceStreams {
    const { id, input, facts, output } = names
    const module = new URL('../../support/programs/state-topology.js', import.meta.url)
    module.search = new URLSearchParams({ input, facts, output }).toString()
    const topology: URL | Topology = threads === 0 ? stateTopology(input, facts, output) : module
    const stateDir = join(tmpdir(), `${id}-${life}`)
    folders.push(stateDir)
    const instance = new MillraceStreams({
      topology,
      config: {
        streams: {
          'application.id': id,
          'state.dir': stateDir,
          'commit.interval.ms': 50,
          'num.stream.threads': Math.max(1, threads),
          ...more,
        },
        kafka: { 'bootstrap.servers': room().servers, ...kafka },
        http: false,
        logging: { level: 'warn' },
      },
    })
    instances.push(instance)
    return instance
  }

  /** Each key twice in one minute and once in the next; two versions of a fact. */
  async function write({ input, facts }: Names): Promise<number> {
    const startMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 10 * MINUTE_MS
    const times = [startMs, startMs + 5_000, startMs + MINUTE_MS]
    await room().write(
      input,
      times.flatMap(timestamp => KEYS.map(key => ({ key, value: 'v', timestamp }))),
    )
    await room().write(facts, [
      { key: 'a', value: 'old', timestamp: startMs },
      { key: 'a', value: 'new', timestamp: startMs + 1_000 },
    ])
    return startMs
  }

  async function untilCounted({ id, output }: Names, count: number): Promise<void> {
    await room().untilRecords(output, count)
    await eventually(`${id} has committed`, async () => (await room().openTransactions(id)).length === 0, MINUTE_MS)
  }

  for (const threads of [1, 2]) {
    it(`gives what is committed in every kind of store, of ${String(threads)} worker thread(s), and tells of the tasks`, async () => {
      const names = await newNames()
      const app = instanceOf(names, { threads })
      expect((await rejectionOf(app.stores.get('counts', 'k0', counted))).code).to.equal('NOT_RUNNING')
      await app.start()
      expect(
        new Set(app.tasks().map(({ id, state }) => `${id} ${state}`)).size,
        'tasks are told with the start',
      ).to.equal(2 * PARTITIONS)
      expect(new Set(app.tasks().map(({ thread }) => thread)).size).to.equal(threads)
      const startMs = await write(names)
      await untilCounted(names, 3 * KEYS.length)

      expect(await Promise.all(KEYS.map(key => app.stores.get('counts', key, counted)))).to.deep.equal(
        KEYS.map(() => 3),
      )
      expect(await app.stores.get('counts', 'nobody', counted)).to.equal(undefined)
      const all = await listOf(app.stores.all('counts', counted))
      expect(all.toSorted(([a], [b]) => (a < b ? -1 : 1))).to.deep.equal(KEYS.toSorted().map(key => [key, 3]))
      const some = await listOf(app.stores.range('counts', 'k1', 'k10', counted))
      expect(some.map(([key]) => key).toSorted()).to.deep.equal(['k1', 'k10'])
      expect(await listOf(app.stores.windows('windows', 'k1', startMs, startMs + MINUTE_MS, counted))).to.deep.equal([
        [{ key: 'k1', start: startMs, end: startMs + MINUTE_MS }, 2],
        [{ key: 'k1', start: startMs + MINUTE_MS, end: startMs + 2 * MINUTE_MS }, 1],
      ])
      expect(await listOf(app.stores.sessions('sessions', 'k1', 0, Date.now(), counted))).to.deep.equal([
        [{ key: 'k1', start: startMs, end: startMs + 5_000 }, 2],
        [{ key: 'k1', start: startMs + MINUTE_MS, end: startMs + MINUTE_MS }, 1],
      ])
      await eventually('the fact is there', async () => (await app.stores.get('facts', 'a', text)) === 'new', MINUTE_MS)
      expect(await app.stores.version('facts', 'a', startMs + 500, text)).to.deep.equal({
        value: 'old',
        timestamp: startMs,
        validTo: startMs + 1_000,
      })
      await eventually(
        'the tasks tell the committed offsets',
        () => {
          const offsets = app.tasks().flatMap(({ offsets: of }) => [...of])
          const input = offsets.filter(([partition]) => partition.startsWith(`${names.input}-`)).map(([, at]) => at)
          return input.reduce((sum, { committed }) => sum + (committed ?? 0), 0) === 3 * KEYS.length
        },
        MINUTE_MS,
      )
      await app.close()
      expect((await rejectionOf(app.stores.get('counts', 'k0', counted))).code).to.equal('NOT_RUNNING')
    })
  }

  it('never runs ahead of what readers of the output may see', async () => {
    const names = await newNames()
    const app = instanceOf(names, { threads: 1, streams: { 'commit.interval.ms': 4_000 } })
    await app.start()
    const readers = KEYS.slice(0, 4)
    for (let round = 1; round <= 3; round += 1) {
      await room().write(
        names.input,
        readers.map(key => ({ key, value: 'v', timestamp: Date.now() })),
      )
      for (const key of readers) {
        let seen: number | undefined
        await eventually(
          `${key} is counted`,
          async () => {
            seen = await app.stores.get('counts', key, counted)
            return seen === round
          },
          MINUTE_MS,
        )
        const committed = (await room().records(names.output)).filter(record => record.key?.toString() === key)
        expect(committed, `what was read of ${key} is committed`).to.have.length(round)
      }
    }
  })

  it('does not wait for a commit that is minutes away', async () => {
    const names = await newNames()
    const streams = { 'processing.guarantee': 'at_least_once', 'commit.interval.ms': 3_600_000 }
    const app = instanceOf(names, { threads: 1, streams })
    await app.start()
    await room().write(names.input, [{ key: 'k0', value: 'v', timestamp: Date.now() }])
    await eventually('it is counted', async () => (await app.stores.get('counts', 'k0', counted)) === 1, MINUTE_MS)
  })

  it('says so while a store is being restored, and reads it afterwards', async () => {
    const names = await newNames()
    const first = instanceOf(names)
    await first.start()
    for (let round = 0; round < 20; round += 1) {
      await room().write(
        names.input,
        KEYS.map(key => ({ key, value: 'v', timestamp: Date.now() })),
      )
    }
    await untilCounted(names, 20 * KEYS.length)
    await first.close()

    // Small fetches: the restore takes several steps, and the first is told before the last is made.
    const second = instanceOf(names, { kafka: { 'max.partition.fetch.bytes': 500 } })
    const answers: Promise<string>[] = []
    second.onRestore(({ store, restored, total }) => {
      if (answers.length > 0 || restored >= total || store !== 'counts') return
      for (const key of KEYS) {
        answers.push(
          second.stores.get('counts', key, counted).then(String, (error: unknown) => (error as { code: string }).code),
        )
      }
    })
    await second.start()
    const during = await Promise.all(answers)
    expect(during, 'the restore was seen').to.have.length(KEYS.length)
    expect(during.filter(answer => answer !== '20')).to.include('STATE_NOT_READY')
    expect(during.filter(answer => answer !== '20' && answer !== 'STATE_NOT_READY')).to.deep.equal([])
    expect(await Promise.all(KEYS.map(key => second.stores.get('counts', key, counted)))).to.deep.equal(
      KEYS.map(() => 20),
    )
  })

  it('reads a key in the one instance that has its partition, and names the reason in the other', async () => {
    const names = await newNames()
    const [one, other] = [instanceOf(names), instanceOf(names, { life: 'b' })]
    await Promise.all([one.start(), other.start()])
    await eventually(
      'each has half of the tasks',
      () => shareOf(one) === PARTITIONS && shareOf(other) === PARTITIONS,
      MINUTE_MS,
    )
    await write(names)
    await untilCounted(names, 3 * KEYS.length)
    const outcomes = await Promise.all(
      KEYS.map(async key => {
        const both = [one, other].map(app =>
          app.stores.get('counts', key, counted).then(String, (error: unknown) => (error as { code: string }).code),
        )
        return (await Promise.all(both)).toSorted()
      }),
    )
    expect(outcomes).to.deep.equal(KEYS.map(() => ['3', 'STATE_ELSEWHERE']))
  })
})
