import { collectDefaultMetrics, Registry } from 'prom-client'
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
  readonly #registry = new Registry()

  constructor(identity: MetricsIdentity, snapshots: () => Promise<readonly ThreadSnapshot[]>) {
    this.#identity = identity
    this.#snapshots = snapshots
    collectDefaultMetrics({ register: this.#registry })
  }

  /** Everything in Prometheus' text format. */
  async text(): Promise<string> {
    const { version, applicationId, guarantee } = this.#identity
    const info = exposition([
      {
        name: 'millrace_info',
        help: 'Always 1; says what runs here.',
        type: 'gauge',
        samples: [{ labels: { version, application_id: applicationId, guarantee }, value: 1 }],
      },
    ])
    return `${info}${exposition(threadMetricFamilies(await this.#snapshots()))}${await this.#registry.metrics()}`
  }
}
