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
 * After a write that no broker acknowledged in time: a topic that was deleted will not come back by waiting. Whether
 * one is gone is asked now, not before, so that a broker that restarts and an outage are not taken for it.
 *
 * @throws MillraceError `TOPIC_MISSING`
 */
export async function assertWritable(
  cause: unknown,
  written: Iterable<string>,
  cluster: ThreadClients['cluster'],
): Promise<void> {
  if (!(cause instanceof MillraceError) || cause.code !== 'REQUEST_TIMED_OUT') return
  const names = [...written]
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
