import { MillraceError } from '../model/errors.ts'
import type { HeldRecord } from '../model/held-record-source.ts'
import type { DropReason, ErrorPolicies } from '../model/record-failure.ts'
import { SILENT_LOGGER } from '../model/logger.ts'
import { StreamTask } from '../engine/stream-task.ts'
import { newGlobalStore } from '../engine/task-stores.ts'
import type { AnyState } from '../stores/any-state.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import type { ApplicationPlan, SubtopologyPlan } from '../topology/plan.ts'
import { MemoryCollector } from './memory-collector.ts'
import { PassedOver } from './passed-over.ts'
import { TestLog } from './test-log.ts'

/** Records a cascade through repartition topics may take before it counts as endless. */
const CASCADE_RECORDS_MAX = 10_000_000

/** What a run is configured by. */
export interface TestRunOptions {
  readonly plan: ApplicationPlan
  readonly errors: ErrorPolicies
  readonly wallClockMs: number
  readonly commitsEveryRecord: boolean
}

interface RunningTask {
  readonly plan: SubtopologyPlan
  task: StreamTask
  /** What a commit would have written into the offset metadata. */
  variables: ReadonlyMap<string, number>
  times: ReadonlyMap<string, number>
}

/** The tasks of an application over topics in memory: what the stream thread and the brokers are in production. */
export class TestRun {
  readonly dropped = new Map<DropReason, number>()
  readonly passedOver = new PassedOver()
  readonly collector = new MemoryCollector(record => {
    this.#logs.get(record.topic)?.append(record)
  })
  readonly #options: TestRunOptions
  readonly #logs = new Map<string, TestLog>()
  readonly #internalTopics = new Set<string>()
  readonly #globals = new Map<string, { readonly store: KeyValueState; readonly log: TestLog }>()
  readonly #tasks: RunningTask[]
  readonly #committedLengths = new Map<string, number>()
  #committedSent = 0
  #wallClockMs: number
  #failure: MillraceError | undefined

  constructor(options: TestRunOptions) {
    this.#options = options
    this.#wallClockMs = options.wallClockMs
    for (const table of options.plan.globalTables) {
      this.#globals.set(table.topic, { store: newGlobalStore(table), log: new TestLog() })
    }
    for (const { sources } of options.plan.subtopologies) {
      for (const { topics, internal } of sources) {
        for (const topic of topics) {
          this.#logs.set(topic, new TestLog())
          if (internal) this.#internalTopics.add(topic)
        }
      }
    }
    this.#tasks = options.plan.subtopologies.map(plan => ({
      plan,
      task: this.#newTask(plan),
      variables: new Map(),
      times: new Map(),
    }))
    this.#begin()
  }

  get failure(): MillraceError | undefined {
    return this.#failure
  }

  /** Whether the application reads a topic. */
  reads(topic: string): boolean {
    return this.#logs.has(topic) || this.#globals.has(topic)
  }

  /** Whether a topic belongs to the application itself: a repartition or changelog topic. */
  isInternal(topic: string): boolean {
    const { subtopologies } = this.#options.plan
    return (
      this.#internalTopics.has(topic) ||
      subtopologies.some(({ stores }) => stores.some(store => store.changelogTopic === topic))
    )
  }

  /** Number of sent records that are committed. */
  get committedSent(): number {
    return this.#committedSent
  }

  /** Appends a record to an input topic and processes all that follows from it. */
  pipe(topic: string, record: HeldRecord): void {
    this.#assertRunning()
    const global = this.#globals.get(topic)
    if (global !== undefined) {
      global.log.append(record)
      if (record.key === null) this.#drop('nullKey')
      else global.store.restore(record.key, record.value, record.timestamp, record.headers)
      return
    }
    const log = this.#logs.get(topic)
    if (log === undefined || this.#internalTopics.has(topic)) {
      throw new MillraceError('NAME_UNKNOWN', { topic, what: `The topology does not read the topic ${topic}.` })
    }
    log.append(record)
    this.#drain()
  }

  /** Moves the wall clock and runs the punctuations that become due. */
  advanceWallClock(ms: number): void {
    this.#assertRunning()
    this.#wallClockMs += ms
    for (const { task } of this.#tasks) {
      this.#guarded(() => {
        task.punctuate()
      })
      if (this.#options.commitsEveryRecord) this.#commit()
    }
    this.#drain()
  }

  /** Commits, and processes what the commit itself sent to repartition topics from caches and buffers. */
  commit(): void {
    this.#assertRunning()
    this.#commit()
    this.#drain()
  }

  #commit(): void {
    for (const running of this.#tasks) {
      const { task, plan } = running
      task.flush()
      const topics = plan.sources.flatMap(source => source.topics)
      running.variables = task.variables.snapshot()
      running.times = new Map(topics.map(topic => [topic, task.partitionTime(topic)]))
      for (const topic of topics) {
        const position = task.position(topic)
        const log = this.#logs.get(topic)
        if (position !== undefined) log?.commit(position)
      }
      task.commitState()
    }
    this.#committedSent = this.collector.sent.length
    for (const topic of this.#internalTopics)
      this.#committedLengths.set(topic, this.#logs.get(topic)?.records.length ?? 0)
  }

  /** Takes everything back to the last commit and processes the input again. */
  abort(): void {
    this.#assertRunning()
    this.#forgetUncommitted()
    for (const { task } of this.#tasks) task.abortState()
    this.#begin()
    this.#drain()
  }

  /** As a new process would begin: new tasks, stores from changelogs, variables from the committed metadata. */
  restart(): void {
    this.#assertRunning()
    this.#forgetUncommitted()
    for (const running of this.#tasks) {
      running.task.close()
      running.task = this.#newTask(running.plan)
      this.#restore(running)
    }
    this.#begin()
    this.#drain()
  }

  /** A store of any task. @throws MillraceError `NAME_UNKNOWN` */
  store(name: string): AnyState {
    for (const { store } of this.#globals.values()) if (store.name === name) return store
    for (const { task } of this.#tasks) {
      const store = task.stores.find(candidate => candidate.name === name)
      if (store !== undefined) return asAnyState(store)
    }
    throw new MillraceError('NAME_UNKNOWN', { node: name, what: `The topology has no store ${name}.` })
  }

  /** Size of the windows of a store, in ms; 0 for a store without. */
  windowSizeMs(name: string): number {
    for (const { stores } of this.#options.plan.subtopologies) {
      const size = stores.find(store => store.name === name)?.definition.windowSizeMs
      if (size !== undefined) return size
    }
    return 0
  }

  close(): void {
    for (const { task } of this.#tasks) task.close()
  }

  #forgetUncommitted(): void {
    this.collector.truncate(this.#committedSent)
    for (const [topic, log] of this.#logs) {
      if (this.#internalTopics.has(topic)) log.truncate(this.#committedLengths.get(topic) ?? 0)
      log.rewind()
    }
  }

  #restore({ task, plan, variables, times }: RunningTask): void {
    for (const [at, store] of task.stores.entries()) {
      const changelog = plan.stores[at]
      if (changelog?.changelogTopic === undefined) continue
      const { changelogTopic, sourceTopicIsChangelog } = changelog
      const log = this.#logs.get(changelogTopic)
      const records = sourceTopicIsChangelog
        ? (log?.records.slice(0, log.committed) ?? [])
        : this.collector.sent.filter(record => record.topic === changelogTopic)
      for (const { key, value, timestamp, headers } of records) {
        if (key !== null) store.restore(key, value, timestamp, headers)
      }
    }
    task.variables.load(variables)
    for (const [topic, ms] of times) task.setPartitionTime(topic, ms)
    // Nothing of this is to be undone by an abort.
    task.commitState()
  }

  /** Makes the processors. */
  #begin(): void {
    for (const { task } of this.#tasks) task.begin()
  }

  /** Processes until nothing is left, the record with the lowest timestamp over all tasks first. */
  #drain(): void {
    for (let records = 0; records < CASCADE_RECORDS_MAX; records++) {
      const next = this.#next()
      if (next === undefined) return
      this.#guarded(() => {
        next.process(1)
      })
      if (this.#options.commitsEveryRecord) this.#commit()
    }
    throw new MillraceError('TOPOLOGY_INVALID', { what: 'The topology feeds itself without end.' })
  }

  #next(): StreamTask | undefined {
    let next: StreamTask | undefined
    let earliest = Number.POSITIVE_INFINITY
    for (const { task, plan } of this.#tasks) {
      for (const topic of plan.sources.flatMap(source => source.topics)) {
        const log = this.#logs.get(topic)
        if (log?.hasMore === true) task.enqueue(topic, log.take())
      }
      const timestamp = task.headTimestamp()
      if (timestamp === undefined || timestamp >= earliest) continue
      earliest = timestamp
      next = task
    }
    return next
  }

  #guarded(work: () => void): void {
    try {
      work()
    } catch (thrown) {
      if (thrown instanceof MillraceError) this.#failure = thrown
      throw thrown
    }
  }

  #newTask(plan: SubtopologyPlan): StreamTask {
    const globals = new Map([...this.#globals.values()].map(({ store }) => [store.name, store]))
    return new StreamTask(
      plan,
      0,
      { policies: this.#options.errors, properties: this.#options.plan.properties, sharedGlobals: globals },
      {
        collector: this.collector,
        logger: SILENT_LOGGER,
        dropped: (reason, count = 1) => {
          this.#drop(reason, count)
        },
        failed: (failure, reaction) => {
          this.passedOver.add(failure, reaction)
        },
        wallClockMs: () => this.#wallClockMs,
        requestCommit: () => {},
      },
    )
  }

  #drop(reason: DropReason, count = 1): void {
    this.dropped.set(reason, (this.dropped.get(reason) ?? 0) + count)
  }

  #assertRunning(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}

function asAnyState(store: StreamTask['stores'][number]): AnyState
function asAnyState(store: unknown): unknown {
  return store
}
