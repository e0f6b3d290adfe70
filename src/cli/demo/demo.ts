import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../model/clock.ts'
import { reasonOf } from '../../model/errors.ts'
import type { ProvidedKafka } from '../../local-kafka/kafka-provider.ts'
import { ApplicationProcess, type ApplicationLaunch } from './application-process.ts'
import { untilNoLag, untilNoneOpen } from './cluster-check.ts'
import { findingsText, killLine, totalsTable, type DemoVerdict } from './demo-account.ts'
import { openDemoCluster, type DemoCluster } from './demo-cluster.ts'
import { demoNames, type DemoNames } from './demo-names.ts'
import { InputPace } from './input-pace.ts'
import { killSeries, type Kill } from './kill-series.ts'
import { planOrders, type PlannedTransaction } from './order-plan.ts'
import { produceOrders } from './order-producer.ts'
import { seededRandom } from './seeded-random.ts'
import { readWholeTopic, type TopicContent } from './topic-reader.ts'
import {
  allFindings,
  checkChangelog,
  checkDeadLetters,
  checkTotals,
  committedOrders,
  countedOrders,
  poisonedOrders,
  type Findings,
} from './totals-check.ts'

/** What to show. */
export interface DemoOptions {
  readonly seed: number
  readonly records: number
  readonly kills: number
  readonly guarantee: 'exactly_once_v2' | 'at_least_once'
  /** Compiled entry of the command line, run as the application's process. */
  readonly entry: string
  /** config/order-totals.yaml. */
  readonly yaml: string
  readonly clock: Clock
  readonly print: (line: string) => void
}

const PARTITIONS = 4
/** Fewer could be luck. */
const KILLS_IN_TRANSACTION_MIN = 3
/** Longer than a start of the application on a slow machine. */
const DRAIN_STALL_MS = 60_000
const MARKERS_TIMEOUT_MS = 10_000
const STOP_GRACE_MS = 35_000
/** Under at_least_once: long enough that a kill loses commits, as with Kafka's own default of 30 s. */
const AT_LEAST_ONCE_COMMIT_MS = 1_000

/** Runs the application through a series of kills and checks every value it wrote. */
export async function runDemo(kafka: ProvidedKafka, options: DemoOptions): Promise<DemoVerdict> {
  const stateDir = await mkdtemp(join(tmpdir(), 'millrace-demo-'))
  const names = demoNames()
  const demo = await openDemoCluster(kafka.bootstrapServers, options.clock)
  try {
    return await new DemoRun({ demo, names, stateDir, options, bootstrapServers: kafka.bootstrapServers }).run()
  } finally {
    if (kafka.source === 'given') await removeTraces(demo, names, options.print)
    await demo.cluster.close()
    await rm(stateDir, { recursive: true, force: true })
  }
}

interface DemoParts {
  readonly demo: DemoCluster
  readonly names: DemoNames
  readonly stateDir: string
  readonly bootstrapServers: string
  readonly options: DemoOptions
}

class DemoRun {
  readonly #parts: DemoParts
  readonly #plan: readonly PlannedTransaction[]
  readonly #beganMs: number
  #application: ApplicationProcess | undefined

  constructor(parts: DemoParts) {
    const { seed, records, clock } = parts.options
    this.#parts = parts
    this.#plan = planOrders({ random: seededRandom(seed), records })
    this.#beganMs = clock.nowMs()
  }

  async run(): Promise<DemoVerdict> {
    await this.#createTopics()
    this.#describe()
    const kills = await this.#processUnderFire()
    return this.#judge(kills, await this.#finish())
  }

  async #createTopics(): Promise<void> {
    const { demo, names } = this.#parts
    const topics = [names.orders, names.totals, names.deadLetters]
    await demo.admin.createTopics(
      topics.map(name => ({ name, partitions: PARTITIONS, replicationFactor: -1, configs: {} })),
    )
  }

  #describe(): void {
    const { options, names } = this.#parts
    const aborted = this.#plan.filter(transaction => transaction.aborted).length
    options.print(
      [
        `Input: ${String(committedOrders(this.#plan).length)} orders (seed ${String(options.seed)}) into ${names.orders}, in ${String(this.#plan.length)} transactions, ${String(aborted)} of them aborted;`,
        `${String(poisonedOrders(this.#plan).length)} orders are poisoned and must end as dead letters.`,
        `Application: ${names.applicationId}, ${options.guarantee}, a process of its own; filter, re-key, add up per customer.`,
        '',
      ].join('\n'),
    )
  }

  /** Writes the input while the application is killed and started again. */
  async #processUnderFire(): Promise<readonly Kill[]> {
    const { demo, names, options } = this.#parts
    const { clock, kills, records } = options
    const pace = new InputPace(clock, records, kills)
    const target = { topic: names.orders, partitions: PARTITIONS, transactionalId: names.producer }
    const producing = produceOrders(demo, target, this.#plan, written => pace.mayWrite(written))
    // Awaited below; until then a failure must not end the process unheard.
    producing.catch(() => undefined)
    try {
      const done = await killSeries({
        demo,
        random: seededRandom(options.seed + 1),
        applicationId: names.applicationId,
        inputs: this.#partitionsOf(names.orders),
        kills,
        killsInTransaction: options.guarantee === 'exactly_once_v2' ? Math.min(kills, KILLS_IN_TRANSACTION_MIN) : 0,
        start: () => this.#start(),
        onStart: () => {
          pace.nextLife()
        },
        onRecovered: () => {
          pace.atWork()
        },
        onKill: (kill, number) => {
          options.print(killLine(kill, number, this.#beganMs))
        },
      })
      this.#start()
      pace.release()
      await producing
      return done
    } catch (error) {
      pace.release()
      await this.#application?.kill()
      await producing.catch(() => undefined)
      throw error
    }
  }

  /** Lets the application read everything and stop in good order. @returns what went wrong */
  async #finish(): Promise<readonly string[]> {
    const { demo, names, options } = this.#parts
    const inputs = [...this.#partitionsOf(names.orders), ...this.#partitionsOf(names.repartition)]
    const lagging = await untilNoLag(demo, names.applicationId, inputs, DRAIN_STALL_MS)
    const application = this.#application
    const end = await application?.stop(STOP_GRACE_MS)
    const troubles = lagging.map(lag => `not everything was read: ${lag}`)
    if (end?.exitCode !== 0) {
      troubles.push(
        `the application stopped with exit code ${String(end?.exitCode)}; its last lines:\n${application?.tail ?? ''}`,
      )
    }
    const open = await untilNoneOpen(demo, names.applicationId, MARKERS_TIMEOUT_MS)
    troubles.push(...open.map(transaction => `a transaction is left open: ${transaction}`))
    const read = lagging.length === 0 ? 'Everything' : 'Not everything'
    options.print(`\n${read} was read; the application stopped with exit code ${String(end?.exitCode)}. Checking.`)
    return troubles
  }

  async #judge(kills: readonly Kill[], troublesBefore: readonly string[]): Promise<DemoVerdict> {
    const { demo, names, options } = this.#parts
    const read = (topic: string): Promise<TopicContent> => readWholeTopic(demo, topic)
    const totals = await read(names.totals)
    const deadLetters = await read(names.deadLetters)
    const changelog = await read(names.changelog)
    const repartition = await read(names.repartition)
    const contents = [totals, deadLetters, changelog, repartition]
    const expected = countedOrders(this.#plan)
    const findings = allFindings([
      checkTotals(expected, totals.records),
      checkDeadLetters(poisonedOrders(this.#plan), deadLetters.records),
      checkChangelog(expected, changelog.records),
    ])
    const blocked = contents.flatMap(content => content.blocked)
    const troubles = [
      ...troublesBefore,
      ...blocked.map(({ topic, partition }) => `${topic}-${String(partition)} cannot be read to its end`),
    ]
    const clean = isClean(findings) && troubles.length === 0
    const verdict: DemoVerdict = {
      verdict: clean ? 'exactly-once' : 'violated',
      records: committedOrders(this.#plan).length,
      outputs: totals.records.length,
      duplicates: findings.duplicates,
      lost: findings.lost,
      wrong: findings.wrong,
      deadLetters: deadLetters.records.length,
      kills: kills.length,
      killsInTransaction: kills.filter(({ inTransaction }) => inTransaction).length,
      abortedTransactions: new Set(contents.flatMap(({ aborted }) => [...aborted])).size,
      seconds: Math.round((options.clock.nowMs() - this.#beganMs) / 100) / 10,
    }
    options.print(`\n${totalsTable(expected)}\n\n${findingsText(findings, troubles)}`)
    options.print(summary(verdict))
    return verdict
  }

  #start(): ApplicationProcess {
    const { names, stateDir, bootstrapServers, options } = this.#parts
    const launch: ApplicationLaunch = {
      entry: options.entry,
      yaml: options.yaml,
      overrides: {
        'streams.application.id': names.applicationId,
        'streams.processing.guarantee': options.guarantee,
        'streams.state.dir': stateDir,
        'kafka.bootstrap.servers': bootstrapServers,
        'sources.orders.topic': names.orders,
        'sinks.out.topic': names.totals,
        'errors.deadLetterTopic': names.deadLetters,
        'http.port': '0',
        ...(options.guarantee === 'at_least_once'
          ? { 'streams.commit.interval.ms': String(AT_LEAST_ONCE_COMMIT_MS) }
          : {}),
      },
    }
    this.#application = new ApplicationProcess(launch)
    return this.#application
  }

  #partitionsOf(topic: string): { topic: string; partition: number }[] {
    return Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition }))
  }
}

function isClean({ duplicates, lost, wrong }: Findings): boolean {
  return duplicates + lost + wrong === 0
}

function summary(verdict: DemoVerdict): string {
  const { records, outputs, deadLetters, kills, killsInTransaction, abortedTransactions } = verdict
  return [
    '',
    `${String(records)} orders, ${String(outputs)} totals and ${String(deadLetters)} dead letters written,`,
    `${String(kills)} kills, ${String(killsInTransaction)} of them in an open transaction, ${String(abortedTransactions)} transactions of the application aborted.`,
    verdict.verdict === 'exactly-once'
      ? 'Verdict: exactly once. Every value of every customer is there, once, in order.'
      : 'Verdict: violated.',
    '',
  ].join('\n')
}

/** On a Kafka that is not ours nothing stays behind. */
async function removeTraces({ admin }: DemoCluster, names: DemoNames, print: DemoOptions['print']): Promise<void> {
  const { orders, totals, deadLetters, changelog, repartition, applicationId } = names
  const leave = (what: string) => (error: unknown) => {
    print(`${what} could not be removed: ${reasonOf(error)}`)
  }
  const topics = [orders, totals, deadLetters, changelog, repartition]
  await admin.deleteTopics(topics).catch(leave(`The topics ${topics.join(', ')}`))
  await admin.deleteGroup(applicationId).catch(leave(`The group ${applicationId}`))
}
