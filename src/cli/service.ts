import { HTTP_DEFAULT, type EngineConfig } from '../config/engine-config.ts'
import { deferred } from '../engine/deferred.ts'
import type { StreamsInstance } from '../engine/streams-instance.ts'
import { asMillraceError, reasonOf } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import { HttpServer } from '../ops/http-server.ts'
import { createLogger } from '../ops/logging.ts'
import { ServiceMetrics } from '../ops/metrics.ts'
import { ServiceHealth } from '../ops/service-health.ts'
import type { CommandIo } from './command-io.ts'
import { EXIT_CODES } from './exit-codes.ts'

/** One application as a process: logs, health and metrics, signals, exit code. */
export class Service {
  readonly #version: string
  readonly #io: CommandIo
  #logger: Logger | undefined
  readonly #httpFailed = deferred<never>()
  /** The server, or none: switched off, or not to be had. */
  #http: Promise<HttpServer | undefined> | undefined

  constructor(version: string, io: CommandIo) {
    this.#version = version
    this.#io = io
    this.#httpFailed.promise.catch(() => undefined)
  }

  /** Called once the configuration is known, before anything touches the cluster: probes are answered from here on. */
  configured(config: EngineConfig, instance: StreamsInstance): Logger {
    const format = config.logging.format ?? (process.stdout.isTTY ? 'pretty' : 'json')
    const logger = createLogger({ level: config.logging.level, format })
    this.#logger = logger
    this.#http = this.#openHttp(config, instance, logger)
    return logger
  }

  /** Runs until a signal or a failure. @returns the exit code; throws what ended the application */
  async run(instance: StreamsInstance): Promise<number> {
    const forget = this.#stopOnSignal(instance)
    instance.onStateChange((state, previous) => {
      this.#logger?.info({ state, previous }, `the application is ${state}`)
    })
    try {
      await Promise.race([this.#untilClosed(instance), this.#httpFailed.promise])
      return EXIT_CODES.ok
    } catch (error) {
      await instance.close()
      throw error
    } finally {
      forget()
      // A start that fails at once is faster than the server, which would keep the process alive.
      const http = await this.#http
      await http?.close()
    }
  }

  async #untilClosed(instance: StreamsInstance): Promise<void> {
    await instance.start().catch((error: unknown) => {
      // A signal during the start is a wish, not a failure.
      if (instance.state !== 'closing' && instance.state !== 'closed') throw error
    })
    await instance.closed
  }

  async #openHttp(config: EngineConfig, instance: StreamsInstance, logger: Logger): Promise<HttpServer | undefined> {
    try {
      const server = await this.#listen(config, instance, logger)
      if (server !== undefined) logger.info({ port: server.port }, 'health and metrics are served')
      return server
    } catch (error) {
      this.#httpFailed.reject(asMillraceError(error))
      return undefined
    }
  }

  async #listen(config: EngineConfig, instance: StreamsInstance, logger: Logger): Promise<HttpServer | undefined> {
    if (config.http === false) return undefined
    const metrics = new ServiceMetrics(
      { version: this.#version, applicationId: config.applicationId, guarantee: config.guarantee },
      () => instance.snapshots(),
    )
    const listening = HttpServer.listen({
      ...(config.http ?? HTTP_DEFAULT),
      health: new ServiceHealth(instance),
      metrics: () => metrics.text(),
      info: () => ({
        version: this.#version,
        applicationId: config.applicationId,
        guarantee: config.guarantee,
        threads: config.threads,
        state: instance.state,
        topology: instance.application?.plan.describe().toString(),
      }),
      logger,
    })
    if (config.http !== undefined) return listening
    return listening.catch((error: unknown) => {
      // Nobody asked for this port, so it is no reason not to process records.
      logger.warn({ port: HTTP_DEFAULT.port, err: asMillraceError(error) }, `no HTTP server: ${reasonOf(error)}`)
      return undefined
    })
  }

  #stopOnSignal(instance: StreamsInstance): () => void {
    let signals = 0
    return this.#io.onStopSignal(signal => {
      signals += 1
      this.#logger?.info({ signal }, signals === 1 ? 'stopping' : 'already stopping')
      if (signals === 1) {
        instance.close().catch((error: unknown) => {
          this.#logger?.error({ err: asMillraceError(error) }, 'stopping failed')
        })
      }
    })
  }
}
