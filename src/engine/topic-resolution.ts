import { MillraceError } from '../model/errors.ts'
import { maxMessageBytesOf } from './max-message-bytes.ts'
import { ifAllowed } from './optional-right.ts'
import type { ProducerCollector } from './producer-collector.ts'
import type { ThreadClients } from './thread-parts.ts'

/** Looks up a topic that a step chose for the first time. @throws MillraceError `TOPIC_MISSING` when the cluster has none of that name */
export async function resolveTopic(
  topic: string,
  { cluster, admin, collector }: Pick<ThreadClients, 'cluster' | 'admin'> & { readonly collector: ProducerCollector },
): Promise<void> {
  const found = await cluster.topic(topic)
  if (found === undefined) {
    throw new MillraceError('TOPIC_MISSING', {
      topic,
      what: 'A step chose a topic that does not exist.',
      action:
        'Create the topic, or correct the expression that names it; the record that chose it is processed again then.',
    })
  }
  const configs = await ifAllowed(admin.describeTopicConfigs([topic]))
  collector.register(topic, found.partitions.length, maxMessageBytesOf(configs?.get(topic)))
}

/**
 * After a write that failed: what may have changed of the topic is asked now, not before, so that a broker that restarts
 * and an outage are not taken for it.
 *
 * @throws MillraceError `TOPIC_MISSING`
 */
export async function reviewTopics(
  cause: unknown,
  collector: ProducerCollector,
  { cluster, admin, producer }: Pick<ThreadClients, 'cluster' | 'admin' | 'producer'>,
): Promise<void> {
  if (!(cause instanceof MillraceError)) return
  if (cause.code === 'REQUEST_TIMED_OUT') await assertPresent(cause, [...collector.topics], cluster)
  const { topic } = cause.details
  if (cause.code === 'RECORD_TOO_LARGE' && topic !== undefined) {
    // Without the right to read it, or an answer, the producer finds the limit by halves.
    const configs = await admin.describeTopicConfigs([topic]).catch(() => undefined)
    if (configs !== undefined) producer.register(topic, { maxMessageBytes: maxMessageBytesOf(configs.get(topic)) })
  }
}

/** A topic that was deleted will not come back by waiting. @throws MillraceError `TOPIC_MISSING` */
async function assertPresent(
  cause: MillraceError,
  names: readonly string[],
  cluster: ThreadClients['cluster'],
): Promise<void> {
  const found = await cluster.refresh(names).then(
    () => cluster.topics(names),
    // Nobody answers: nothing is known, and the outage is waited out.
    () => undefined,
  )
  const missing = names.filter(name => found?.has(name) === false)
  if (missing.length === 0) return
  throw new MillraceError('TOPIC_MISSING', {
    cause,
    what: `Topics that the application writes do not exist any more: ${missing.join(', ')}.`,
    action:
      'Create them again with the partition counts they had (`millrace topics`); what they lacked is processed again then.',
  })
}
