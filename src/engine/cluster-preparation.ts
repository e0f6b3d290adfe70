import type { Clock, Random } from '../model/clock.ts'
import { MillraceError } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import type { EngineConfig } from '../config/engine-config.ts'
import { Admin } from '../kafka/admin/admin.ts'
import { Backoff } from '../kafka/cluster/backoff.ts'
import type { Cluster } from '../kafka/cluster/cluster.ts'
import { Deadline } from '../kafka/cluster/deadline.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import { buildCluster } from './cluster-client.ts'
import { throughOutages } from './start-attempts.ts'
import { prepareTopics, type PreparedTopics, type TopicPreparationOptions } from './topic-preparation.ts'
import { transactionTimeoutBound } from './transaction-timeout.ts'

/** Longest pause before what an outage interrupted is done again. */
const BACKOFF_MS_MAX = 1_000

/** The application a cluster is prepared for, and the outside world it takes. */
export interface ClusterPreparationOptions {
  readonly config: EngineConfig
  readonly plan: ApplicationPlan
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/**
 * Everything that must hold of the cluster before the first thread starts: reach, versions, bounds, topics.
 *
 * @param signal - ends it early, with an error
 * @throws MillraceError naming what does not hold
 */
export async function prepareCluster(
  options: ClusterPreparationOptions,
  signal?: AbortSignal,
): Promise<PreparedTopics> {
  const { config, clock, random, logger } = options
  const cluster = buildCluster(config, `${config.clientId}-start`, options)
  const close = (): void => void cluster.close()
  signal?.addEventListener('abort', close)
  try {
    if (signal?.aborted === true) throw new MillraceError('NOT_RUNNING', { what: 'The instance was closed.' })
    const deadline = new Deadline(clock, config.startupTimeoutMs)
    await cluster.connect(config.startupTimeoutMs)
    const admin = new Admin(cluster, { clock, timeoutMs: config.requestTimeoutMs })
    const backoff = new Backoff(config.retryBackoffMs, BACKOFF_MS_MAX, random)
    return await throughOutages({ clock, logger, backoff, deadline }, async () => {
      if (config.guarantee === 'exactly_once_v2') await transactionTimeoutBound(admin, config)
      return await prepareTopics(topicPreparationOf(options, { cluster, admin }))
    })
  } finally {
    signal?.removeEventListener('abort', close)
    await cluster.close()
  }
}

/** What topic preparation needs, from the configuration. */
export function topicPreparationOf(
  { config, plan, logger }: ClusterPreparationOptions,
  { cluster, admin }: { readonly cluster: Cluster; readonly admin: Admin },
): TopicPreparationOptions {
  return {
    cluster,
    admin,
    logger,
    plan,
    deadLetterTopics: deadLetterTopicsOf(config, plan),
    create: config.topicsCreate,
    replicationFactor: config.replicationFactor,
    topicConfigs: config.topicConfigs,
    timeoutMs: config.requestTimeoutMs,
  }
}

function deadLetterTopicsOf(config: EngineConfig, plan: ApplicationPlan): readonly string[] {
  const perSource = plan.subtopologies.flatMap(subtopology =>
    subtopology.sources.map(source => source.errors?.deadLetterTopic),
  )
  return [config.errors.deadLetterTopic, ...perSource].filter(topic => topic !== undefined)
}
