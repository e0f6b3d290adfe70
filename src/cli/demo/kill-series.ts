import { sleep, type Random } from '../../model/clock.ts'
import { MillraceError } from '../../model/errors.ts'
import type { TopicPartition } from '../../model/topic-partition.ts'
import type { ListedTransaction } from '../../kafka/admin/transaction-admin.ts'
import type { ApplicationProcess } from './application-process.ts'
import type { DemoCluster } from './demo-cluster.ts'
import { integerBetween } from './seeded-random.ts'

/** One SIGKILL. */
export interface Kill {
  /** Milliseconds since the demo began. */
  readonly atMs: number
  /** Milliseconds from the start of the process to its first commit; `undefined` when it was killed before. */
  readonly recoveredMs: number | undefined
  /** What the broker said right afterwards about the application's transactional ids. */
  readonly transactions: readonly { readonly state: string; readonly partitions: readonly TopicPartition[] }[]
  /** Whether one of them was ongoing: its records were written and not yet committed. */
  readonly inTransaction: boolean
}

/** How the series is made. */
export interface KillSeriesOptions {
  readonly demo: DemoCluster
  readonly random: Random
  readonly applicationId: string
  readonly inputs: readonly TopicPartition[]
  /** Kills in all, at least. */
  readonly kills: number
  /** Of these in a transaction, at least; 0 where the guarantee knows no transactions. */
  readonly killsInTransaction: number
  readonly start: () => ApplicationProcess
  readonly onStart: () => void
  /** The application has committed for the first time since its start. */
  readonly onRecovered: () => void
  readonly onKill: (kill: Kill, number: number) => void
}

const EXTRA_KILLS_MAX = 12
const COMMIT_WAIT_MS = 60_000
const RUN_MIN_MS = 100
const RUN_MAX_MS = 1_500
const POLL_MS = 5
/** One life in this many is cut off while it is still starting. */
const STARTING_ONE_IN = 6
const AIM_MS = 1_500

/** Kills the application at random moments until enough kills have landed; it is not running afterwards. */
export async function killSeries(options: KillSeriesOptions): Promise<readonly Kill[]> {
  const { kills, killsInTransaction, random, onKill, onStart } = options
  const done: Kill[] = []
  const landed = (): number => done.filter(({ inTransaction }) => inTransaction).length
  while (done.length < kills || landed() < killsInTransaction) {
    if (done.length >= kills + EXTRA_KILLS_MAX) {
      throw new MillraceError('INTERNAL', {
        what: `${String(done.length)} kills, and only ${String(landed())} met an open transaction.`,
      })
    }
    onStart()
    const mustLand = kills - done.length <= killsInTransaction - landed()
    const isEarly = !mustLand && done.length > 0 && integerBetween(random, 1, STARTING_ONE_IN) === 1
    done.push(await killOnce(options, { isEarly, mustLand }))
    const last = done.at(-1)
    if (last !== undefined) onKill(last, done.length)
  }
  return done
}

async function killOnce(
  options: KillSeriesOptions,
  { isEarly, mustLand }: { readonly isEarly: boolean; readonly mustLand: boolean },
): Promise<Kill> {
  const { demo, random, applicationId } = options
  const { clock } = demo
  const before = await committedTotal(options)
  const startedMs = clock.nowMs()
  const application = options.start()
  let recoveredMs: number | undefined
  if (isEarly) {
    await sleep(clock, integerBetween(random, RUN_MIN_MS, RUN_MAX_MS / 2))
  } else {
    await untilCommitted(options, application, before)
    recoveredMs = clock.nowMs() - startedMs
    options.onRecovered()
    await sleep(clock, integerBetween(random, RUN_MIN_MS, RUN_MAX_MS))
    if (mustLand) await untilOngoing(demo, applicationId)
  }
  assertRunning(application)
  await application.kill()
  const atMs = clock.nowMs()
  const transactions = await transactionsOf(demo, applicationId)
  const descriptions = await demo.admin.describeTransactions(transactions.map(({ transactionalId }) => transactionalId))
  return {
    atMs,
    recoveredMs,
    transactions: [...descriptions.values()].map(({ state, partitions }) => ({ state, partitions })),
    inTransaction: transactions.some(({ state }) => state === 'Ongoing'),
  }
}

/** Waits until the group's offsets have moved: the application is back at work. */
async function untilCommitted(
  options: KillSeriesOptions,
  application: ApplicationProcess,
  before: number,
): Promise<void> {
  const { clock } = options.demo
  const deadlineMs = clock.nowMs() + COMMIT_WAIT_MS
  while ((await committedTotal(options)) <= before) {
    assertRunning(application)
    if (clock.nowMs() > deadlineMs) {
      throw new MillraceError('START_TIMED_OUT', {
        what: `The application committed nothing within ${String(COMMIT_WAIT_MS / 1_000)} s. Its last lines:\n${application.tail}`,
      })
    }
    await sleep(clock, 4 * POLL_MS)
  }
}

/** Waits for a transaction to be opened, so that the kill that follows at once meets it. */
async function untilOngoing(demo: DemoCluster, applicationId: string): Promise<void> {
  const deadlineMs = demo.clock.nowMs() + AIM_MS
  let wasClosed = false
  while (demo.clock.nowMs() < deadlineMs) {
    const isOpen = (await transactionsOf(demo, applicationId)).some(({ state }) => state === 'Ongoing')
    // One that has been open for long may be committed before the signal arrives; a new one is not.
    if (isOpen && wasClosed) return
    wasClosed ||= !isOpen
    await sleep(demo.clock, POLL_MS)
  }
}

/** The application's transactional ids, as the brokers list them. */
export async function transactionsOf(demo: DemoCluster, applicationId: string): Promise<readonly ListedTransaction[]> {
  const listed = await demo.admin.listTransactions()
  return listed.filter(({ transactionalId }) => transactionalId.startsWith(`${applicationId}-`))
}

async function committedTotal({ demo, applicationId, inputs }: KillSeriesOptions): Promise<number> {
  const committed = await demo.admin.committedOffsets(applicationId, inputs, { requireStable: false })
  let total = 0
  for (const { offset } of committed.values()) total += offset
  return total
}

function assertRunning(application: ApplicationProcess): void {
  if (application.end === undefined) return
  throw new MillraceError('INTERNAL', {
    what: `The application ended by itself with exit code ${String(application.end.exitCode)}. Its last lines:\n${application.tail}`,
  })
}
