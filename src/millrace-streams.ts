import { parseDurationMs, type Duration } from './model/duration.ts'
import { MillraceError } from './model/errors.ts'
import type { MillraceConfig } from './config/millrace-config.ts'
import type { RestoreProgress } from './engine/changelog-restorer.ts'
import type { ApplicationSource } from './engine/application-source.ts'
import { StreamsInstance, type CommitInfo, type ErrorResponse } from './engine/streams-instance.ts'
import type { StreamsState } from './engine/streams-state.ts'
import { StateQueries } from './engine/state-queries.ts'
import { LocalStateReader, type StateReader } from './engine/state-reader.ts'
import { systemClock } from './engine/system-clock.ts'
import type { TaskInfo } from './engine/task-info.ts'
import type { ThreadSnapshot } from './engine/thread-metrics.ts'
import { createLogger } from './ops/logging.ts'
import { ServiceMetrics } from './ops/metrics.ts'
import { isTopology, type Topology } from './topology/topology.ts'
import { VERSION } from './model/version.ts'

/** Options of an instance. */
export interface MillraceStreamsOptions {
  /** A module whose default export is a `Topology` (each worker thread imports it), or a `Topology` itself (this thread only, `num.stream.threads` 1). */
  readonly topology: URL | Topology
  /** The configuration. */
  readonly config: MillraceConfig
}

/** Options of `close`. Kafka Streams: `KafkaStreams.CloseOptions`. */
export interface CloseOptions {
  /** How long it may take before transactions are aborted. @default `shutdown.timeout.ms` */
  readonly timeout?: Duration
  /** Whether the members leave the group. @default true with generated instance ids, false with given ones */
  readonly leaveGroup?: boolean
}

/** Runs a topology. Kafka Streams: `KafkaStreams`. */
export class MillraceStreams implements AsyncDisposable {
  /** Committed state of the stores here. Kafka Streams: `query`. */
  readonly stores: StateReader
  readonly #instance: StreamsInstance
  #metrics: ServiceMetrics | undefined

  constructor(options: MillraceStreamsOptions) {
    this.#instance = new StreamsInstance({
      source: sourceOf(options),
      clock: systemClock,
      random: Math.random,
      logger: ({ logging: { level, format } }) =>
        createLogger({ level, format: format ?? (process.stdout.isTTY ? 'pretty' : 'json') }),
      version: VERSION,
    })
    this.stores = new LocalStateReader(new StateQueries(this.#instance))
  }

  /** The present state. Kafka Streams: `state()`. */
  get state(): StreamsState {
    return this.#instance.state
  }

  /** Connects and starts; resolves when first running. @throws MillraceError `CONFIG_INVALID`, `TOPOLOGY_INVALID`, and those of the cluster. Kafka Streams: `start()`. */
  start(): Promise<void> {
    return this.#instance.start()
  }

  /** Finishes or aborts open transactions and stops; safe to call twice. Kafka Streams: `close(CloseOptions)`. */
  close({ timeout, leaveGroup }: CloseOptions = {}): Promise<void> {
    const timeoutMs = timeout === undefined ? undefined : parseDurationMs(timeout)
    if (timeout !== undefined && timeoutMs === undefined) {
      throw new MillraceError('USAGE', { what: `close: ${String(timeout)} is no duration.` })
    }
    return this.#instance.close({
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(leaveGroup === undefined ? {} : { leaveGroup }),
    })
  }

  /** Resolves when closed, rejects when failed. Kafka Streams: none. */
  get closed(): Promise<void> {
    return this.#instance.closed
  }

  /** Stops processing, keeps membership. Kafka Streams: `pause()`. */
  pause(): void {
    this.#instance.pause(true)
  }

  /** Goes on after `pause`. Kafka Streams: `resume()`. */
  resume(): void {
    this.#instance.pause(false)
  }

  /** Tells each change of state; returns a function that ends it. Kafka Streams: `setStateListener`. */
  onStateChange(listener: (state: StreamsState, previous: StreamsState) => void): () => void {
    return this.#instance.onStateChange(listener)
  }

  /** Decides what a failed thread means: another thread, the end of this instance, or of every instance (they fail with `SHUTDOWN_REQUESTED`); the last one registered counts. @default 'shutdownClient'. Kafka Streams: `setUncaughtExceptionHandler`. */
  onError(handler: (error: MillraceError) => ErrorResponse): () => void {
    return this.#instance.onError(handler)
  }

  /** Tells progress of restores. Kafka Streams: `setGlobalStateRestoreListener`. */
  onRestore(listener: (progress: RestoreProgress) => void): () => void {
    return this.#instance.onRestore(listener)
  }

  /** Tells each acknowledged commit. Kafka Streams: none. */
  onCommit(listener: (commit: CommitInfo) => void): () => void {
    return this.#instance.onCommit(listener)
  }

  /** Tasks of this instance, as their threads told last: a quarter of a second ago at most. Kafka Streams: `metadataForLocalThreads()`. */
  tasks(): readonly TaskInfo[] {
    return this.#instance.tasks()
  }

  /** What each thread tells about itself: tasks, offsets, stores, counters. Kafka Streams: `metadataForLocalThreads()`. */
  snapshots(): Promise<readonly ThreadSnapshot[]> {
    return this.#instance.snapshots()
  }

  /** Metrics of all threads as Prometheus text. @throws MillraceError `NOT_RUNNING` before the start. Kafka Streams: `metrics()`. */
  async metrics(): Promise<string> {
    const config = this.#instance.application?.config
    if (config === undefined)
      throw new MillraceError('NOT_RUNNING', { what: 'There are no metrics before the instance was started.' })
    this.#metrics ??= new ServiceMetrics(
      { version: VERSION, applicationId: config.applicationId, guarantee: config.guarantee },
      () => this.#instance.snapshots(),
    )
    return await this.#metrics.text()
  }

  /** As `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function sourceOf({ topology, config }: MillraceStreamsOptions): ApplicationSource {
  return isTopology(topology) ? { kind: 'inline', topology, config } : { kind: 'module', url: topology.href, config }
}
