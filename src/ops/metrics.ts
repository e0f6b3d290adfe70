import type { Registry } from 'prom-client'
import { exposition } from '../engine/exposition.ts'
import { threadMetricFamilies } from '../engine/thread-metric-families.ts'
import type { ThreadSnapshot } from '../engine/thread-metrics.ts'

/** Content type of the text that `ServiceMetrics` makes. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** What stays the same for the life of the process; labels of `millrace_info`. */
export interface MetricsIdentity {
  readonly version: string
  readonly applicationId: string
  readonly guarantee: string
}

/**
 * Metrics of the whole process: those of the threads, made from the snapshots they post, and Node's own (event-loop
 * delay, heap, garbage collection) by prom-client, which has no way to set counters and histograms from snapshots.
 */
export class ServiceMetrics {
  readonly #identity: MetricsIdentity
  readonly #snapshots: () => Promise<readonly ThreadSnapshot[]>
  #nodeMetrics: Promise<Registry> | undefined

  constructor(identity: MetricsIdentity, snapshots: () => Promise<readonly ThreadSnapshot[]>) {
    this.#identity = identity
    this.#snapshots = snapshots
  }

  /** Everything in Prometheus' text format. Node's own metrics count from the first time on. */
  async text(): Promise<string> {
    this.#nodeMetrics ??= collectNodeMetrics()
    const registry = await this.#nodeMetrics
    const { version, applicationId, guarantee } = this.#identity
    const info = exposition([
      {
        name: 'millrace_info',
        help: 'Always 1; says what runs here.',
        type: 'gauge',
        samples: [{ labels: { version, application_id: applicationId, guarantee }, value: 1 }],
      },
    ])
    return `${info}${exposition(threadMetricFamilies(await this.#snapshots()))}${await registry.metrics()}`
  }
}

/** Its modules take a good part of a start to load, and nobody asks for metrics before the first scrape. */
async function collectNodeMetrics(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}
