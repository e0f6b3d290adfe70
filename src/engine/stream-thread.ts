import { asMillraceError, type MillraceError } from '../model/errors.ts'
import type { ActiveTask } from './active-task.ts'
import { assignRound, countPartitions, planFingerprint, type PartitionCounts } from './assignment.ts'
import { AssignmentClaims } from './assignment-claims.ts'
import { ChangelogRestorer } from './changelog-restorer.ts'
import type { CommitParts } from './commit-cycle.ts'
import { commitScheduleOf, type CommitSchedule } from './commit-schedule.ts'
import { commitStrategyOf } from './commit-strategies.ts'
import { FailureRecovery } from './failure-recovery.ts'
import { GlobalTables } from './global-tables.ts'
import { idleTimeMs } from './idle-time.ts'
import { InputGrowth } from './input-growth.ts'
import { InputFailures } from './input-failures.ts'
import { InputRewinder } from './input-rewinder.ts'
import { ProducerCollector } from './producer-collector.ts'
import { Rebalancer } from './rebalancer.ts'
import { RepartitionPurge } from './repartition-purge.ts'
import { StateReads } from './state-reads.ts'
import type { StreamTask } from './stream-task.ts'
import { createTask } from './task-creation.ts'
import { TaskExecutor } from './task-executor.ts'
import { TaskRegistry, type TaskPlace } from './task-registry.ts'
import { REAPER_MS, TaskStarter } from './task-starter.ts'
import { ThreadCommits } from './thread-commits.ts'
import { ThreadMetrics } from './thread-metrics.ts'
import type { StreamThreadOptions } from './thread-options.ts'
import { buildClients, type ThreadClients } from './thread-parts.ts'
import { drain, release, type ShutdownParts, type StopOptions } from './thread-shutdown.ts'
import { nextThreadState, type ThreadEvent, type ThreadState } from './thread-state.ts'
import { ThreadStop } from './thread-stop.ts'
import { resolveTopic, reviewTopics } from './topic-resolution.ts'
import { abandonTransaction } from './transaction-abandonment.ts'
import { TransactionNumbers } from './transaction-numbers.ts'
import { Wakeup } from './wakeup.ts'

/**
 * The loop of one stream thread: one group member, one producer with one transactional id, one fetcher, and the tasks the
 * group assigned. Kafka Streams: `StreamThread`.
 */
export class StreamThread {
  readonly metrics: ThreadMetrics
  readonly clients: ThreadClients
  readonly restorer: ChangelogRestorer
  readonly rebalancer: Rebalancer
  readonly reads: StateReads
  readonly #options: StreamThreadOptions
  readonly #wakeup: Wakeup
  readonly #stop: ThreadStop
  readonly #claims = new AssignmentClaims()
  readonly #transactionNumbers: TransactionNumbers
  readonly #collector: ProducerCollector
  readonly #registry: TaskRegistry
  readonly #schedule: CommitSchedule
  readonly #globals: GlobalTables
  readonly #starter: TaskStarter
  readonly #executor: TaskExecutor
  readonly #commits: ThreadCommits
  readonly #recovery: FailureRecovery
  readonly #inputFailures: InputFailures
  readonly #counts = (): Promise<PartitionCounts> => countPartitions(this.clients.cluster, this.#registry.sourceTopics)
  #state: ThreadState = 'created'
  #paused = false
  /** Whether the start is through: the group may know this member from here on. */
  #isJoining = false

  constructor(options: StreamThreadOptions) {
    const { config, plan, topics, clock, logger, listeners } = options
    this.#options = options
    this.metrics = new ThreadMetrics(logger)
    this.#wakeup = new Wakeup(clock)
    this.#transactionNumbers = new TransactionNumbers(Math.floor(options.random() * 2 ** 52))
    this.clients = buildClients({
      ...options,
      onWake: this.#wakeup.signal,
      onUndelivered: records => this.metrics.dropped('undelivered', records),
      assign: async round => assignRound(plan, await this.#counts(), round),
    })
    const { producer, fetcher, admin } = this.clients
    this.#stop = new ThreadStop({ ...options, ...this.clients, stepTimeoutMs: config.requestTimeoutMs })
    this.#collector = new ProducerCollector(producer, topics, clock)
    this.#registry = new TaskRegistry(plan, place => this.#createTask(place))
    this.#schedule = commitScheduleOf(config, clock.nowMs())
    const isAtomic = config.guarantee === 'exactly_once_v2'
    this.restorer = new ChangelogRestorer({ admin, fetcher, clock, logger, isAtomic, onProgress: listeners.onRestore })
    this.#globals = this.#newGlobals()
    this.reads = new StateReads({
      ...options,
      registry: this.#registry,
      globals: this.#globals,
      schedule: this.#schedule,
      onWake: this.#wakeup.signal,
    })
    this.#starter = this.#newStarter()
    const strategy = commitStrategyOf(config.guarantee, this.#commitParts(), new InputRewinder(fetcher))
    this.#executor = new TaskExecutor({ fetcher, clock, strategy, metrics: this.metrics })
    this.#commits = new ThreadCommits({
      clock,
      strategy,
      schedule: this.#schedule,
      claims: this.#claims,
      purge: new RepartitionPurge({ admin, logger, intervalMs: config.repartitionPurgeIntervalMs }, clock.nowMs()),
      metrics: this.metrics,
      producer,
      commitMsMax: Math.min(config.requestTimeoutMs, config.transactionTimeoutMs),
      running: () => this.#registry.running(),
      onForgotten: this.#transactionNumbers.forgotten,
      onCommit: records => {
        this.#recovery.progressed()
        listeners.onCommit(records)
      },
    })
    this.#inputFailures = new InputFailures({
      admin,
      fetcher,
      logger,
      registry: this.#registry,
      restorer: this.restorer,
      globals: this.#globals,
      commit: () => this.#commits.commit('rebalance'),
    })
    this.#recovery = new FailureRecovery({
      clock,
      logger,
      abort: cause => this.#commits.abort(cause),
      startOver: cause => this.#startOver(cause),
      stopRequested: () => this.#stop.requested,
    })
    this.rebalancer = this.#newRebalancer()
  }

  get state(): ThreadState {
    return this.#state
  }

  tasks(): readonly ActiveTask[] {
    return this.#registry.all()
  }

  /** Asks the loop to finish: it commits, or aborts when that takes too long, and `run` resolves. */
  stop(options: StopOptions): void {
    if (!this.#stop.requested) this.#on('stopRequested')
    this.#stop.ask(options)
    // Nothing is open yet that would have to be brought to an end: a start may wait for its brokers for minutes.
    if (!this.#isJoining) this.#stop.cutOff()
    this.#wakeup.signal()
  }

  /** Stops processing and keeps membership, or goes on. */
  pause(paused: boolean): void {
    this.#paused = paused
    this.#wakeup.signal()
  }

  /** Runs until stopped. @throws MillraceError what stopped it; the committed offsets stay where they are */
  async run(): Promise<void> {
    const { config, clock } = this.#options
    try {
      let broken = this.#stop.requested ? undefined : await this.#start()
      while (!this.#stop.requested) {
        try {
          await this.#turn()
        } catch (error) {
          // What waited for brokers was ended by the stop: there is nobody to recover with.
          broken = this.#stop.isCutOff ? asMillraceError(error) : await this.#recovery.recover(error)
          await reviewTopics(error, this.#collector, this.clients)
        }
        this.metrics.turnedAt(clock.nowMs())
      }
      this.#stop.loopEnded()
      await drain(this.#shutdownParts(), this.#howToStop(config.shutdownTimeoutMs), broken)
      this.#on('ended')
    } catch (error) {
      this.#on('failed')
      this.#stop.loopEnded()
      const timeoutMs = Math.min(config.shutdownTimeoutMs, config.requestTimeoutMs)
      await release(this.#shutdownParts(), error, this.#howToStop(timeoutMs))
      throw asMillraceError(error)
    } finally {
      this.reads.end()
      this.metrics.ended(clock.nowMs())
    }
  }

  /** Connects and joins. Returns what hindered it when a stop was asked for meanwhile, which is then no failure. */
  async #start(): Promise<MillraceError | undefined> {
    this.#on('start')
    try {
      await this.clients.cluster.connect(this.#options.config.startupTimeoutMs)
      // Before the group's offsets are read: fences and aborts what an earlier life left open (I12).
      await this.clients.producer.initialize()
    } catch (error) {
      if (this.#stop.requested) return asMillraceError(error)
      throw error
    }
    this.#isJoining = true
    this.#on('joining')
    this.rebalancer.join()
    return undefined
  }

  /** One turn of the loop: what the group says, what was fetched, one chunk of each task, a commit if it is due. */
  async #turn(): Promise<void> {
    const { member, producer } = this.clients
    member.polled()
    const lost = await this.rebalancer.apply()
    if (lost !== undefined) throw lost
    const startFailure = this.#starter.takeFailure()
    if (startFailure !== undefined) throw startFailure
    await this.#globals.begin()
    await this.#inputFailures.handle()
    if (producer.failure !== undefined) throw producer.failure
    const readGlobals = this.#globals.advance()
    const restored = this.restorer.advance() || readGlobals
    this.#finishRestores()

    this.reads.answerWaiting()
    const processed = this.#mayProcess ? await this.#processChunk() : 0
    producer.pump()
    await this.#commits.commitIfDue(processed === 0 && this.clients.fetcher.isAtEnd)
    this.reads.answerWaiting()
    this.metrics.waits(this.#options.clock.nowMs())
    if (processed > 0 || restored) await this.#options.clock.yieldToIo()
    else await this.#wakeup.wait(this.#idleMs())
  }

  async #processChunk(): Promise<number> {
    const { clock } = this.#options
    const running = this.#registry.running()
    const admission = this.#executor.feed(running)
    if (admission !== undefined) await admission
    if (this.clients.producer.bufferFull) await this.clients.producer.whenBufferFree()
    this.#commits.workBegins()
    const startedMs = clock.nowMs()
    this.#executor.punctuate(running)
    const processed = this.#executor.process(running, this.#commits.recordsLeft)
    this.#commits.processed(processed)
    if (processed > 0) this.metrics.processed(processed, clock.nowMs() - startedMs)
    const topic = this.#executor.takeUnresolvedTopic()
    if (topic === undefined) return processed
    await resolveTopic(topic, { ...this.clients, collector: this.#collector })
    return Math.max(1, processed)
  }

  /** Membership or the transactional id was lost: nothing owned counts any more. The next turn joins again. */
  async #startOver(cause: MillraceError): Promise<void> {
    this.metrics.aborted(cause)
    this.#closeTasks()
    this.#claims.changed([])
    this.#commits.forgotten()
    this.rebalancer.lost()
    this.#on('joining')
    await abandonTransaction(this.clients.producer, this.#options.config.requestTimeoutMs)
  }

  #createTask(place: TaskPlace): StreamTask {
    return createTask(place, {
      ...this.#options,
      ...this.clients,
      collector: this.#collector,
      globals: this.#globals,
      metrics: this.metrics,
      schedule: this.#schedule,
      registry: this.#registry,
      transactionNumbers: this.#transactionNumbers,
    })
  }

  #close(task: ActiveTask): void {
    this.restorer.drop(task)
    for (const { topicPartition } of task.inputs) this.clients.fetcher.remove(topicPartition)
    task.on('closed')
    this.metrics.retired(task.task)
    task.task.close()
    this.#registry.remove(task)
  }

  #closeTasks(): void {
    for (const task of this.#registry.all()) this.#close(task)
  }

  /** Tasks whose stores are complete begin to read their inputs. */
  #finishRestores(): void {
    // A task that ran before the global tables are complete would miss partners that are there.
    if (!this.#globals.isComplete) return
    for (const task of this.#registry.inState('restoring')) {
      if (!this.#starter.isPlaced(task) || !this.restorer.isRestored(task)) continue
      task.on('restored')
      for (const input of task.inputs) {
        this.clients.fetcher.add(input.topicPartition, { offset: input.rewindTo, leaderEpoch: input.leaderEpoch() })
      }
    }
    const settled =
      this.clients.member.state === 'stable' && this.#registry.all().every(task => task.state === 'running')
    if (settled && this.#state === 'rebalancing') this.#on('allRunning')
    else if (!settled && this.#state === 'running') this.#on('joining')
  }

  #idleMs(): number {
    const parts = { clock: this.#options.clock, schedule: this.#schedule, tasks: this.#registry }
    return idleTimeMs(parts, {
      isUncommitted: this.#commits.hasUncommittedWork,
      isIdle: this.clients.fetcher.isAtEnd,
      mayProcess: this.#mayProcess,
    })
  }

  /** While a global table is read anew, too, nothing is processed: a join would miss partners that are there. */
  get #mayProcess(): boolean {
    return !this.#paused && this.#globals.isComplete
  }

  #newStarter(): TaskStarter {
    const { config, clock, logger } = this.#options
    return new TaskStarter({
      ...this.clients,
      restorer: this.restorer,
      clock,
      logger,
      stableOffsetsTimeoutMs: config.transactionTimeoutMs + REAPER_MS,
      onWake: this.#wakeup.signal,
    })
  }

  #newGlobals(): GlobalTables {
    const { config, plan, logger } = this.#options
    return new GlobalTables({
      ...this.clients,
      tables: plan.globalTables,
      logger,
      policies: config.errors,
      dropped: reason => this.metrics.dropped(reason),
    })
  }

  #newRebalancer(): Rebalancer {
    const { plan, random, logger, identity, clock } = this.#options
    const counts = this.#counts
    const onWake = this.#wakeup.signal
    return new Rebalancer({
      member: this.clients.member,
      registry: this.#registry,
      claims: this.#claims,
      logger,
      processId: identity.processId,
      firstJoin: Math.floor(random() * 2 ** 32),
      fingerprint: async () => planFingerprint(plan, await counts()),
      partitionCounts: counts,
      growth: new InputGrowth({ plan, counts, clock, logger, onWake }),
      commit: () => this.#commits.commit('rebalance'),
      abort: cause => this.#commits.abort(cause),
      open: tasks => this.#starter.start(tasks),
      close: task => this.#close(task),
      onWake,
      onRebalance: () => this.metrics.rebalanced(),
    })
  }

  #commitParts(): CommitParts {
    const { config, clock, logger } = this.#options
    return {
      ...this.clients,
      applicationId: config.applicationId,
      clock,
      logger,
      claims: this.#claims,
      stepTimeoutMs: this.#stop.stepTimeoutMs,
      tasks: () => this.#registry.running(),
      resolveTopic: topic => resolveTopic(topic, { ...this.clients, collector: this.#collector }),
      nextTransaction: this.#transactionNumbers.take,
      workEpoch: () => this.#commits.workEpoch,
      stopRequested: () => this.#stop.requested,
    }
  }

  #shutdownParts(): ShutdownParts {
    const { clock, logger } = this.#options
    return {
      clients: this.clients,
      clock,
      logger,
      allow: this.#stop.allow,
      commit: () => this.#commits.commit('shutdown'),
      abort: cause => this.#commits.abort(cause),
      closeTasks: () => this.#closeTasks(),
    }
  }

  /** @param timeoutMs - where nobody has asked for the stop */
  #howToStop(timeoutMs: number): StopOptions {
    const { asked, leftMs } = this.#stop
    if (asked !== undefined) return { ...asked, timeoutMs: leftMs }
    return { leaveGroup: this.#options.config.groupInstanceId === undefined, timeoutMs }
  }

  #on(event: ThreadEvent): void {
    const previous = this.#state
    this.#state = nextThreadState(previous, event)
    if (this.#state !== previous) this.#options.listeners.onState(this.#state, previous)
  }
}
