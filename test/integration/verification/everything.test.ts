import { expect } from 'chai'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { observeEnded } from '../../support/run-verdict.ts'
import { KafkaWriter, type RecordToWrite } from '../../support/kafka-writer.ts'
import { checkRun, type RunVerdict } from '../../../src/verification/check-run.ts'
import { visible } from '../../../src/verification/observed-log.ts'
import type { RunObservation } from '../../../src/verification/run-observation.ts'
import type { Addition, Total, TotalsObservation } from '../../../src/verification/totals-observation.ts'
import type { CheckName, CheckReport } from '../../../src/verification/verdict.ts'
import { type CaseApplication, PATIENCE_MS, useCaseRoom } from '../cases/case-room.ts'

const PARTITIONS = 2
/** Of one part of the input. */
const RECORDS = 120
const ACCOUNTS = 5
/** Event time of the first record: recent, or the topics' retention would delete the input. */
const START_MS = Date.now() - 60_000

/** A lag that stays is for the checker to explain, so nothing is judged before a slow machine has had its time. */
const READ_MS = 150_000
/** INVALID_COMMIT_OFFSET_SIZE: nothing that a retry could cure. */
const REFUSAL = 28

/** A join, a repartition, an aggregation, windows without grace and dead letters: what remembers something between records. */
function everything(id: string, servers: string): CaseApplication {
  return {
    id,
    servers,
    streams: { 'provenance.headers': true },
    sources: {
      in: { topic: `${id}-in`, key: 'string', value: 'json' },
      rates: { topic: `${id}-rates`, as: 'table', key: 'string', value: 'json' },
    },
    steps: {
      priced: {
        from: 'in',
        join: {
          with: 'rates',
          type: 'left',
          value: { id: 'left.id', account: 'left.account', amount: 'left.amount', rate: 'right.?rate' },
        },
      },
      totals: {
        from: 'priced',
        groupBy: 'value.account',
        aggregate: {
          init: { count: 0, sum: 0 },
          update: { count: 'state.count + 1', sum: 'state.sum + value.amount' },
        },
      },
      perWindow: { from: 'in', window: { tumbling: '40ms', grace: '0s' }, count: {} },
    },
    sinks: {
      joined: { from: 'priced', topic: `${id}-joined` },
      totalsOut: { from: 'totals', topic: `${id}-totals` },
      windows: { from: 'perWindow', topic: `${id}-windows` },
    },
    errors: { deserialization: 'deadLetter', processing: 'deadLetter', deadLetterTopic: `${id}-dead` },
  }
}

/** Keys, each longer than a word: shorter ones pass by most of the hash. */
const KEYS = 7

/** The nth order; each 29th is no JSON, each 31st lacks its account, which shows only behind the join. */
function order(n: number): RecordToWrite {
  const amount = (n * 999_983 + 7) % 2 ** 31
  const account = n % 31 === 30 ? {} : { account: `account-${String((n * 3) % ACCOUNTS)}` }
  // Some come late: their windows have closed.
  const lateMs = n % 13 === 12 ? 90 : 0
  return {
    key: `customer-${String(n % KEYS)}`,
    value: n % 29 === 28 ? `{"id":${String(n)}` : JSON.stringify({ id: n, ...account, amount }),
    timestamp: START_MS + n * 10 - lateMs,
  }
}

function rate(n: number): RecordToWrite {
  return {
    key: `customer-${String(n % KEYS)}`,
    value: n % 11 === 10 ? null : JSON.stringify({ rate: n }),
    timestamp: START_MS + n * 15,
  }
}

/** An open `describe` has a room; this is what one run needs of it. */
function reportOf({ checks }: RunVerdict, name: CheckName): CheckReport {
  const report = checks.find(({ check }) => check === name)
  if (report === undefined) throw new Error(`there is no check ${name}`)
  return report
}

/** What a plain reading of the input expects of the totals: nothing of it goes through the operators. */
function totalsOf({ logs }: RunObservation, id: string): TotalsObservation {
  const expected = new Map<string, Addition[]>()
  const idOfAmount = new Map<number, bigint>()
  for (const { value } of logs.of(`${id}-in`).flatMap(visible)) {
    const found = /^\{"id":(\d+),"account":"([\w-]+)","amount":(\d+)\}$/.exec(value?.toString() ?? '')
    if (found === null) continue
    const [, number = '', account = '', amount = ''] = found
    idOfAmount.set(Number(amount), BigInt(number))
    expected.set(account, [...(expected.get(account) ?? []), { id: BigInt(number), amount: BigInt(amount) }])
  }
  const totals = new Map<string, Total[]>()
  for (const { key, value } of logs.of(`${id}-totals`).flatMap(visible)) {
    const account = key?.toString() ?? ''
    const list = totals.get(account) ?? []
    const { count, sum } = JSON.parse(value?.toString() ?? '{}') as { readonly count: number; readonly sum: number }
    const before = list.at(-1)
    // Amounts are unique, so the growth of the sum names the order.
    const grown = idOfAmount.get(sum - Number(before?.sum ?? 0n)) ?? -1n
    totals.set(account, [...list, { count: BigInt(count), sum: BigInt(sum), xor: (before?.xor ?? 0n) ^ grown }])
  }
  return { expected, found: Array.from(totals, ([key, list]) => ({ key, totals: list })) }
}

describe('a run with everything in it', function () {
  this.timeout(480_000)
  const room = useCaseRoom()
  let proxy: KafkaProxy
  let id = ''
  let written = 0

  beforeEach(async () => {
    proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
    id = uniqueName('app')
    written = 0
    for (const topic of ['in', 'rates', 'dead', 'joined', 'totals', 'windows']) {
      await room().admin.createTopics([
        { name: `${id}-${topic}`, partitions: PARTITIONS, replicationFactor: 1, configs: {} },
      ])
    }
  })

  afterEach(async () => {
    await proxy.stop()
  })

  /** Writes orders and rates, some of them in transactions that are aborted. */
  const writeMore = async (): Promise<void> => {
    const writer = await KafkaWriter.open(room().servers, { 'transactional.id': `${id}-upstream` })
    const orders = Array.from({ length: RECORDS }, (_, index) => order(written + index))
    const rates = Array.from({ length: RECORDS / 3 }, (_, index) => rate(written + index))
    await writer.transaction(`${id}-rates`, rates, 'commit')
    for (let at = 0; at < RECORDS; at += 30) {
      await writer.transaction(`${id}-in`, orders.slice(at, at + 10), 'abort')
      await writer.transaction(`${id}-in`, orders.slice(at, at + 30), 'commit')
    }
    written += RECORDS
  }

  /** Waits until the lag is 0; where it never is, the checker has to say why. */
  const untilRead = async (): Promise<void> => {
    const topics = [`${id}-in`, `${id}-rates`, `${id}-totals-repartition`]
    const partitions = topics.flatMap(topic =>
      Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition })),
    )
    const isRead = async (): Promise<boolean> => {
      const committed = await room().admin.committedOffsets(id, partitions, { requireStable: false })
      const ends = await room().admin.listOffsets(partitions, 'latest', 'read_uncommitted')
      return partitions.every(partition => (committed.get(partition)?.offset ?? 0) === ends.get(partition))
    }
    // A topic that the application is still to create has no offsets.
    await eventually('everything is read', () => isRead().catch(() => false), READ_MS).catch(() => undefined)
  }

  const judge = async (application: CaseApplication): Promise<RunVerdict> => {
    const run = await observeEnded(room().yaml(application), room())
    return checkRun({ ...run, totals: totalsOf(run, id) })
  }

  it('is consistent after an abort, a kill −9, restores and a second thread', async () => {
    const application = everything(id, proxy.bootstrapServers)
    await writeMore()
    // An abort without a restart: what the tasks remember goes back, and the input is read again.
    const refused = [1, 3].map(nth =>
      proxy.rule({ api: 'TxnOffsetCommit', direction: 'request', nth, action: { type: 'error', code: REFUSAL } }),
    )
    const stateDir = await room().folder()
    const first = await room().start(application, { stateDir })
    await untilRead()

    await writeMore()
    await first.kill()
    const second = await room().start(application, {
      stateDir,
      env: { MILLRACE_TEST_CRASH_AT: 'txnOffsetCommit:answered' },
    })
    await second.untilExit(PATIENCE_MS)
    const third = await room().start(
      { ...application, streams: { ...application.streams, 'num.stream.threads': 2 } },
      { stateDir },
    )
    await writeMore()
    await untilRead()
    const { code } = await third.terminate()

    const verdict = await judge(application)
    const text = JSON.stringify(verdict.checks.filter(({ state }) => state !== 'passed'))
    expect(verdict.verdict, text).to.equal('consistent')
    for (const check of [
      'prefixFunction',
      'tiling',
      'atomicity',
      'state',
      'fencing',
      'dirtyInput',
      'deadLetters',
      'totals',
    ] as const) {
      expect(reportOf(verdict, check).state, `${check} ${text}`).to.equal('passed')
    }
    expect(verdict.summary.abortedRecords, 'something was aborted').to.be.greaterThan(0)
    expect(code).to.equal(0)
    expect(refused[0]?.fired.length, 'an offset commit was refused').to.equal(1)
  })
})
