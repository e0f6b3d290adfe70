import { expect } from 'chai'
import { HeldInputWatch } from '../../../src/engine/held-input-watch.ts'
import type { PartitionSnapshot } from '../../../src/engine/thread-metrics.ts'
import type { OpenTransaction } from '../../../src/kafka/admin/open-transactions.ts'
import { MillraceError } from '../../../src/model/errors.ts'
import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { aThreadSnapshot } from '../../support/thread-snapshot.ts'

interface Line {
  readonly level: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

const WARN_AFTER_MS = 30_000

/** An input at the given place; its end and last stable offset are equal unless told otherwise. */
function input(partition: number, at: Partial<PartitionSnapshot> = {}): PartitionSnapshot {
  const place = {
    topic: 'orders',
    partition,
    task: `0_${String(partition)}`,
    committed: undefined,
    fetchedTo: undefined,
  }
  return { ...place, position: 10, lastStableOffset: 10, highWatermark: 10, ...at }
}

const heldAt = (partition: number, offset = 10): PartitionSnapshot =>
  input(partition, { position: offset, lastStableOffset: offset, highWatermark: offset + 7 })

describe('the watch over inputs that are held up', () => {
  let clock: ManualClock
  let lines: Line[]
  let partitions: PartitionSnapshot[]
  let asked: (readonly TopicPartition[])[]
  let answer: (partitions: readonly TopicPartition[]) => OpenTransaction[]
  let closes: number
  let watch: HeldInputWatch

  /** The transaction of the producer 77, open for two minutes when the clock began. */
  const open = (partition: number, differences: Partial<OpenTransaction> = {}): OpenTransaction => ({
    topicPartition: { topic: 'orders', partition },
    producerId: 77,
    producerEpoch: 3,
    coordinatorEpoch: 0,
    startOffset: 10,
    lastTimestampMs: clock.wallClockMs(),
    hanging: false,
    owner: {
      transactionalId: 'shop-eu-host-1',
      state: 'Ongoing',
      producerId: 77,
      producerEpoch: 3,
      timeoutMs: 900_000,
      startedAtMs: new ManualClock().wallClockMs() - 120_000,
      partitions: [{ topic: 'orders', partition }],
    },
    ...differences,
  })

  const at =
    (level: string) =>
    (fields: object, message: string): void => {
      lines.push({ level, fields: { ...fields }, message })
    }

  beforeEach(() => {
    clock = new ManualClock()
    lines = []
    partitions = [input(0), input(1)]
    asked = []
    answer = places => places.map(({ partition }) => open(partition))
    closes = 0
    watch = new HeldInputWatch({
      snapshots: () => Promise.resolve([aThreadSnapshot({ partitions })]),
      questions: {
        openTransactions: places => {
          asked.push(places)
          return Promise.resolve().then(() => answer(places))
        },
        groups: () => Promise.resolve(['shop', 'shop-eu']),
        close: () => {
          closes += 1
          return Promise.resolve()
        },
      },
      clock,
      logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
      warnAfterMs: WARN_AFTER_MS,
    })
  })

  afterEach(() => watch.close())

  const warnings = (): Line[] => lines.filter(({ level }) => level === 'warn')
  const ages = (): unknown[] =>
    watch.annotate([aThreadSnapshot({ partitions })]).flatMap(thread => thread.partitions.map(({ held }) => held))

  it('asks nobody and says nothing while inputs go on', async () => {
    await clock.advance(60_000)
    for (let offset = 10; offset < 60; offset += 1) {
      partitions = [heldAt(0, offset), input(1)]
      await clock.advance(5_000)
    }
    expect(asked).to.deep.equal([])
    expect(lines).to.deep.equal([])
    expect(ages()[1]).to.equal(undefined)
  })

  it('does not take an input that is behind for one that is held up', async () => {
    partitions = [input(0, { position: 2, lastStableOffset: 10, highWatermark: 17 })]
    await clock.advance(120_000)
    expect(asked).to.deep.equal([])
    expect(ages()).to.deep.equal([undefined])
  })

  it('names producer, transactional id, application and how long, once the bound has passed', async () => {
    partitions = [heldAt(0), input(1)]
    await clock.advance(WARN_AFTER_MS)
    expect(asked, 'not before').to.deep.equal([])
    await clock.advance(2_000)
    expect(asked).to.deep.equal([[{ topic: 'orders', partition: 0 }]])
    expect(warnings()).to.have.length(1)
    expect(warnings()[0]?.message).to.equal('an open transaction of another producer holds up an input')
    expect(warnings()[0]?.fields).to.deep.equal({
      topic: 'orders',
      partition: 0,
      lastStableOffset: 10,
      highWatermark: 17,
      blockedRecords: 7,
      heldForSeconds: 30,
      producerId: 77,
      producerEpoch: 3,
      transactionalId: 'shop-eu-host-1',
      transactionState: 'Ongoing',
      openForSeconds: 151,
      application: 'shop-eu',
      instance: 'host-1',
      lastWriteSecondsAgo: 0,
    })
  })

  it('tells the metrics how old the transaction is, by its coordinator once that was asked', async () => {
    partitions = [heldAt(0), input(1)]
    await clock.advance(11_000)
    expect(ages()).to.deep.equal([{ heldForMs: 10_000, transactionAgeMs: 10_000 }, undefined])
    await clock.advance(30_000)
    expect(ages()).to.deep.equal([{ heldForMs: 40_000, transactionAgeMs: 161_000 }, undefined])
  })

  it('repeats itself every five minutes, and says when the input goes on', async () => {
    partitions = [heldAt(0)]
    await clock.advance(32_000)
    await clock.advance(290_000)
    expect(warnings()).to.have.length(1)
    await clock.advance(20_000)
    expect(warnings()).to.have.length(2)
    expect(closes, 'its connections stay open meanwhile').to.be.lessThan(40)
    partitions = [input(0, { position: 18, lastStableOffset: 18, highWatermark: 18 })]
    await clock.advance(2_000)
    expect(lines.at(-1)).to.deep.equal({
      level: 'info',
      fields: { partition: 'orders-0' },
      message: 'an input that was held up goes on',
    })
    expect(ages()).to.deep.equal([undefined])
  })

  it('speaks once a minute of an input that one long transaction after the other holds up', async () => {
    for (let offset = 10; offset < 20; offset += 1) {
      partitions = [heldAt(0, offset)]
      answer = () => [open(0, { startOffset: offset })]
      await clock.advance(45_000)
    }
    expect(warnings().length).to.be.within(4, 8)
  })

  it('needs one line for a transaction that holds up many inputs', async () => {
    partitions = Array.from({ length: 20 }, (_, partition) => heldAt(partition))
    await clock.advance(32_000)
    expect(warnings().map(({ fields, message }) => [message, fields['partitions']])).to.deep.equal([
      ['an open transaction of another producer holds up an input', undefined],
      ['the same holds up further inputs', 19],
    ])
  })

  it('says so where no coordinator tells whose it is, and where none will end it', async () => {
    partitions = [heldAt(0), heldAt(1)]
    answer = () => [
      open(0, { owner: undefined, hanging: true }),
      open(1, { producerId: 78, hanging: true }),
      open(1, { producerId: 79, startOffset: 15 }),
    ]
    await clock.advance(32_000)
    expect(warnings().map(({ fields, message }) => [fields['producerId'], message])).to.deep.equal([
      [
        77,
        'a transaction holds up an input; no coordinator tells whose: it hangs, or Describe on its transactional id is missing (millrace txn find-hanging)',
      ],
      [78, 'a transaction that no coordinator will end holds up an input (millrace txn find-hanging)'],
    ])
  })

  it('says once that a right is missing, and still that the input is held up', async () => {
    partitions = [heldAt(0)]
    answer = () => {
      throw new MillraceError('NOT_AUTHORIZED', { what: 'Cannot describe the producers of orders-0.' })
    }
    await clock.advance(700_000)
    expect(warnings().map(({ message }) => message)).to.deep.equal([
      'who holds up inputs may not be asked: a right is missing',
      'an open transaction holds up an input; which one may not be asked',
      'an open transaction holds up an input; which one may not be asked',
      'an open transaction holds up an input; which one may not be asked',
    ])
  })

  it('asks again at the next look when no broker answered', async () => {
    partitions = [heldAt(0)]
    answer = () => {
      throw new MillraceError('REQUEST_TIMED_OUT')
    }
    await clock.advance(33_000)
    expect(warnings()).to.deep.equal([])
    answer = () => [open(0)]
    await clock.advance(1_000)
    expect(warnings()).to.have.length(1)
  })

  it('ends with its timer and its connections', async () => {
    await watch.close()
    expect(clock.timers).to.equal(0)
    expect(closes).to.be.greaterThan(0)
  })
})
