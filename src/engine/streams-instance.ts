import type { Clock, Random, Timer } from '../model/clock.ts'
import { asMillraceError, MillraceError } from '../model/errors.ts'
import type { MillraceErrorCode } from '../model/error-table.ts'
import type { Logger } from '../model/logger.ts'
import type { EngineConfig } from '../config/engine-config.ts'
import { planApplication } from '../topology/plan-application.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import { loadSource, type ApplicationSource, type WorkerSource } from './application-source.ts'
import type { RestoreProgress } from './changelog-restorer.ts'
import { prepareCluster } from './cluster-preparation.ts'
import { deferred } from './deferred.ts'
import { HeldInputWatch } from './held-input-watch.ts'
import { Listeners } from './listeners.ts'
import { withPrincipal } from './principal.ts'
import { takeProcessIdentity, type ProcessIdentity } from './process-identity.ts'
import { SpareWorker } from './spare-worker.ts'
import type { StopOptions } from './thread-shutdown.ts'
import { nextStreamsState, type StreamsEvent, type StreamsState } from './streams-state.ts'
import type { TaskInfo } from './task-info.ts'
import type { ThreadHandle, ThreadReports } from './thread-handle.ts'
import { launchThread, type ThreadLaunch } from './thread-launcher.ts'
import type { ThreadSnapshot } from './thread-metrics.ts'
import { threadIdentity } from './thread-identity.ts'
import type { PreparedTopics } from './topic-preparation.ts'
import { ClusterTransactionQuestions } from './transaction-questions.ts'

/**
 * What to do after a thread stopped with an error: start another, stop this instance, or have every instance of the
 * application stop. Kafka Streams: `StreamThreadExceptionResponse`.
 */
export type ErrorResponse = 'replaceThread' | 'shutdownClient' | 'shutdownApplication'

/** A committed transaction. */
export interface CommitInfo {
  /** Thread that committed. */
  readonly thread: string
  /** When the broker acknowledged, by wall clock, in ms. */
  readonly timestamp: number
  /** Input records it covers. */
  readonly records: number
}

/** The application to run and the outside world it runs in. */
export interface StreamsInstanceOptions {
  readonly source: ApplicationSource
  readonly clock: Clock
  readonly random: Random
  /** Chosen by the loaded configuration, so that level and format hold from the first line on. */
  readonly logger: (config: EngineConfig) => Logger
  /** Told in the first line and by `/info`. */
  readonly version: string
  /** What prepares the cluster and starts threads. @default the real ones */
  readonly launching?: { readonly prepareCluster: typeof prepareCluster; readonly launchThread: typeof launchThread }
}

/** Whoever has our instance id now has won, and a stop of the application is no choice of ours: no handler is asked. */
const FINAL: ReadonlySet<MillraceErrorCode> = new Set<MillraceErrorCode>(['INSTANCE_ID_IN_USE', 'SHUTDOWN_REQUESTED'])

/** A member that leaves starts a rebalance, which may overtake the word to stop. */
const STAYING: Partial<StopOptions> = { leaveGroup: false }

interface Started {
  readonly config: EngineConfig
  readonly plan: ApplicationPlan
  /** Where workers take the application from. */
  readonly source: WorkerSource | undefined
  readonly topics: PreparedTopics
  readonly identity: ProcessIdentity
  readonly logger: Logger
  /** Workers that load the application already, for the first threads. */
  readonly workers: SpareWorker[]
}

/**
 * One running application: loads it, prepares the cluster, starts its stream threads and watches over them. It never
 * touches a record. Kafka Streams: `KafkaStreams`.
 */
export class StreamsInstance {
  readonly #options: StreamsInstanceOptions
  readonly #threads: ThreadHandle[] = []
  /** Numbers from 1 on that the ids of a thread are made of. */
  readonly #slots = new Map<ThreadHandle, number>()
  readonly #stateListeners = new Listeners<readonly [state: StreamsState, previous: StreamsState]>()
  readonly #commitListeners = new Listeners<readonly [commit: CommitInfo]>()
  readonly #restoreListeners = new Listeners<readonly [progress: RestoreProgress]>()
  readonly #closed = deferred<void>()
  readonly #running = deferred<void>()
  /** Ends a preparation that is under way. */
  readonly #closing = new AbortController()
  #errorHandler: (error: MillraceError) => ErrorResponse = () => 'shutdownClient'
  #state: StreamsState = 'created'
  #started: Started | undefined
  #heldInputs: HeldInputWatch | undefined
  #failure: MillraceError | undefined
  #live = 0
  #threadNumber = 0
  #stop: StopOptions | undefined
  #paused = false
  #ending = false
  #shutdownDeadline: Timer | undefined

  constructor(options: StreamsInstanceOptions) {
    this.#options = options
    // Both are offered, neither has to be taken: an unhandled rejection would end the process twice.
    this.#closed.promise.catch(() => undefined)
    this.#running.promise.catch(() => undefined)
  }

  get state(): StreamsState {
    return this.#state
  }

  /** Resolves when closed, rejects when failed. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  get threads(): readonly ThreadHandle[] {
    return this.#threads
  }

  /** What the tasks of this instance do. */
  tasks(): readonly TaskInfo[] {
    return this.#threads.flatMap(thread => thread.tasks())
  }

  /** What the instance was started with; `undefined` before. */
  get application(): Pick<Started, 'config' | 'plan' | 'topics'> | undefined {
    return this.#started
  }

  /** Connects and starts; resolves when first running. @throws MillraceError what hinders it */
  async start(): Promise<void> {
    this.#on('start')
    try {
      this.#started = await this.#prepare()
      if (this.#isClosing) this.#end()
      else {
        for (let slot = 1; slot <= this.#started.config.threads; slot += 1) this.#startThread(this.#started)
        this.#heldInputs = this.#newWatch(this.#started)
      }
    } catch (error) {
      // What fails because of a close is no failure.
      if (!this.#isClosing) {
        this.#failure = asMillraceError(error)
        this.#on('threadFailed')
      }
      this.#stopThreads({})
    }
    await this.#running.promise
  }

  /** Finishes or aborts open transactions and stops; safe to call twice. */
  async close(options: Partial<StopOptions> = {}): Promise<void> {
    if (this.#state === 'closed' || this.#state === 'failed') return
    const isStarting = this.#state !== 'created' && this.#started === undefined
    if (this.#state !== 'failing') this.#on('close')
    this.#closing.abort()
    // A preparation under way ends by itself now, and then the instance: it holds the lock of the state directory.
    if (!isStarting) this.#stopThreads(options)
    await this.#closed.promise.catch(() => undefined)
  }

  /** Stops processing and keeps membership, or goes on. @throws MillraceError `NOT_RUNNING` before the start and after the end */
  pause(paused: boolean): void {
    if (this.#state === 'created' || this.#state === 'closed' || this.#state === 'failed') {
      throw new MillraceError('NOT_RUNNING', {
        what: `An instance that is ${this.#state} cannot be paused or resumed.`,
      })
    }
    this.#paused = paused
    this.#on(paused ? 'pause' : 'resume')
    for (const thread of this.#threads) thread.pause(paused)
    this.#threadsChanged()
  }

  onStateChange(listener: (state: StreamsState, previous: StreamsState) => void): () => void {
    return this.#stateListeners.add(listener)
  }

  onCommit(listener: (commit: CommitInfo) => void): () => void {
    return this.#commitListeners.add(listener)
  }

  onRestore(listener: (progress: RestoreProgress) => void): () => void {
    return this.#restoreListeners.add(listener)
  }

  /** Decides what a failed thread means; the last one registered counts. */
  onError(handler: (error: MillraceError) => ErrorResponse): () => void {
    const previous = this.#errorHandler
    this.#errorHandler = handler
    return () => {
      if (this.#errorHandler === handler) this.#errorHandler = previous
    }
  }

  /** What every thread that answers tells about itself. */
  async snapshots(): Promise<readonly ThreadSnapshot[]> {
    const snapshots = await this.#bareSnapshots()
    return this.#heldInputs?.annotate(snapshots) ?? snapshots
  }

  async #bareSnapshots(): Promise<readonly ThreadSnapshot[]> {
    const snapshots = await Promise.all(this.#threads.map(thread => thread.snapshot()))
    return snapshots.filter(snapshot => snapshot !== undefined)
  }

  #newWatch({ config, logger }: Started): HeldInputWatch {
    const { clock, random } = this.#options
    return new HeldInputWatch({
      snapshots: () => this.#bareSnapshots(),
      questions: new ClusterTransactionQuestions(config, { clock, random }),
      clock,
      logger,
      warnAfterMs: config.blockedInputWarnMs,
    })
  }

  async #prepare(): Promise<Started> {
    const { source, clock, random, version } = this.#options
    const { topology, config, forWorkers, warnings } = await loadSource(source)
    const logger = this.#options.logger(config)
    for (const warning of warnings) logger.warn({}, warning)
    if (forWorkers === undefined && config.threads > 1) {
      throw new MillraceError('CONFIG_CONFLICT', {
        what: `A topology given as an object runs on one thread; num.stream.threads is ${String(config.threads)}.`,
        action: 'Put the topology into a module and give its URL, so that each worker thread can import it.',
      })
    }
    const plan = planApplication(topology, config.streamsProperties)
    for (const warning of plan.warnings) logger.warn({}, warning)
    logger.info(
      { applicationId: config.applicationId, guarantee: config.guarantee, version, threads: config.threads },
      'starting; readers of the output topics must set isolation.level=read_committed',
    )
    const identity = await takeProcessIdentity(config.stateDir, config.applicationId)
    const prepare = this.#options.launching?.prepareCluster ?? prepareCluster
    const workers: SpareWorker[] = []
    try {
      this.#addSpareWorkers(workers, forWorkers, config.threads)
      const topics = await prepare({ config, plan, clock, random, logger }, this.#closing.signal)
      return { config, plan, source: forWorkers, identity, logger, topics, workers }
    } catch (error) {
      for (const worker of workers) worker.discard()
      await identity.release()
      throw withPrincipal(asMillraceError(error), config.security)
    }
  }

  #startThread(started: Started): void {
    const { clock, random } = this.#options
    const { config, plan, source, topics, logger } = started
    this.#threadNumber += 1
    const name = `${config.applicationId}-thread-${String(this.#threadNumber)}`
    const slot = this.#freeSlot()
    const identity = threadIdentity(config, started.identity, slot)
    const reports: ThreadReports = {
      onState: () => this.#threadsChanged(),
      onCommit: records => this.#commitListeners.tell({ thread: name, timestamp: clock.wallClockMs(), records }),
      onRestore: progress => this.#restoreListeners.tell(progress),
      onEnd: error =>
        this.#threadEnded(handle, error === undefined ? undefined : withPrincipal(error, config.security)),
    }
    const worker = started.workers.shift()
    const handle = this.#launch(
      { name, source, worker, config, plan, topics, identity, clock, random, logger },
      reports,
    )
    this.#threads.push(handle)
    this.#slots.set(handle, slot)
    if (this.#paused) handle.pause(true)
  }

  /** Each is in the list at once: whatever fails then, none is left running. */
  #addSpareWorkers(workers: SpareWorker[], source: WorkerSource | undefined, threads: number): void {
    if (source === undefined || this.#options.launching !== undefined) return
    while (workers.length < threads) workers.push(new SpareWorker(source))
  }

  #launch(launch: ThreadLaunch, reports: ThreadReports): ThreadHandle {
    const { launching } = this.#options
    this.#live += 1
    try {
      return (launching?.launchThread ?? launchThread)(launch, reports)
    } catch (error) {
      this.#live -= 1
      throw error
    }
  }

  /** A thread that replaces another takes its ids: those of a living one would fence that one. */
  #freeSlot(): number {
    const taken = new Set(this.#slots.values())
    let slot = 1
    while (taken.has(slot)) slot += 1
    return slot
  }

  #threadsChanged(): void {
    // A thread may report before it is in the list: it then counts as one that does not run yet.
    const isComplete = this.#live > 0 && this.#threads.length === this.#live
    if (isComplete && this.#threads.every(thread => thread.state === 'running')) {
      this.#on('allRunning')
      this.#running.resolve()
    } else if (this.#state === 'running') this.#on('threadJoining')
  }

  #threadEnded(handle: ThreadHandle, error: MillraceError | undefined): void {
    this.#live -= 1
    this.#slots.delete(handle)
    const index = this.#threads.indexOf(handle)
    if (index >= 0) this.#threads.splice(index, 1)
    if (error !== undefined) this.#threadFailed(error)
    else if (this.#live === 0) this.#end()
  }

  #threadFailed(error: MillraceError): void {
    const started = this.#started
    started?.logger.error({ err: error }, 'a stream thread stopped')
    const response = started === undefined ? 'shutdownClient' : this.#responseTo(error)
    if (started !== undefined && response === 'replaceThread') return this.#startThread(started)
    this.#failure ??= error
    this.#on('threadFailed')
    if (started !== undefined && response === 'shutdownApplication') return this.#shutDownApplication(started)
    this.#stopThreads(error.code === 'SHUTDOWN_REQUESTED' ? STAYING : {})
    if (this.#live === 0) this.#end()
  }

  /** Only a member can speak to the group: the threads that are left do, or a new one that is started for it. */
  #shutDownApplication(started: Started): void {
    started.logger.error({}, 'every instance of the application is told to stop')
    if (this.#threads.length === 0) this.#startThread(started)
    for (const thread of this.#threads) thread.askForShutdown()
    // A group that cannot be reached must not keep this instance alive.
    this.#shutdownDeadline = this.#options.clock.after(started.config.shutdownTimeoutMs, () => {
      this.#stopThreads(STAYING)
    })
  }

  #responseTo(error: MillraceError): ErrorResponse {
    if (this.#isClosing || this.#state === 'failing' || FINAL.has(error.code)) return 'shutdownClient'
    try {
      return this.#errorHandler(error)
    } catch (thrown) {
      const { logger } = this.#started ?? {}
      logger?.error({ err: thrown }, 'the error handler itself failed: the instance stops')
      return 'shutdownClient'
    }
  }

  get #isClosing(): boolean {
    return this.#state === 'closing' || this.#state === 'closed'
  }

  #stopThreads(options: Partial<StopOptions>): void {
    const config = this.#started?.config
    this.#stop ??= {
      leaveGroup: options.leaveGroup ?? config?.groupInstanceId === undefined,
      timeoutMs: options.timeoutMs ?? config?.shutdownTimeoutMs ?? 0,
    }
    for (const thread of this.#threads) thread.stop(this.#stop)
    if (this.#live === 0) this.#end()
  }

  #end(): void {
    if (this.#ending) return
    this.#ending = true
    this.#shutdownDeadline?.cancel()
    const { identity, logger, workers = [] } = this.#started ?? {}
    for (const worker of workers) worker.discard()
    Promise.all([identity?.release(), this.#heldInputs?.close()])
      .catch((error: unknown) => {
        // The next start takes over the lock of a process that is gone.
        logger?.warn({ err: error }, 'the lock of the state directory could not be removed')
      })
      .finally(() => {
        this.#on('allStopped')
        if (this.#failure === undefined) {
          this.#closed.resolve()
          this.#running.reject(new MillraceError('NOT_RUNNING', { what: 'The instance was closed before it ran.' }))
        } else {
          this.#closed.reject(this.#failure)
          this.#running.reject(this.#failure)
        }
      })
  }

  #on(event: StreamsEvent): void {
    const previous = this.#state
    this.#state = nextStreamsState(previous, event)
    if (this.#state !== previous) this.#stateListeners.tell(this.#state, previous)
  }
}
