import { MillraceError } from '../model/errors.ts'
import type { ProducerCollector } from './producer-collector.ts'
import type { ThreadClients } from './thread-parts.ts'

const MAX_MESSAGE_BYTES_DEFAULT = 1_048_588

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
  const configs = await admin.describeTopicConfigs([topic]).catch((error: unknown) => {
    if (error instanceof MillraceError && error.code === 'NOT_AUTHORIZED') return undefined
    throw error
  })
  collector.register(
    topic,
    found.partitions.length,
    Number(configs?.get(topic)?.get('max.message.bytes') ?? MAX_MESSAGE_BYTES_DEFAULT),
  )
}
