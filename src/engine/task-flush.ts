import type { ActiveTask } from './active-task.ts'
import { UnresolvedTopic } from './record-collector.ts'

/** Looks up a topic that a step chose for the first time. @throws MillraceError `TOPIC_MISSING` */
export type TopicResolver = (topic: string) => Promise<void>

/**
 * Lets tasks write what the interval still owes: results in caches, changelogs of caches and buffers. What a task holds back
 * may be for a topic that nobody has looked up; it is put back then, and flushed again once the topic is known.
 *
 * @throws MillraceError what the flush of a task or the look-up of a topic throws
 */
export async function flushTasks(
  tasks: readonly { readonly task: Pick<ActiveTask['task'], 'flush'> }[],
  resolveTopic: TopicResolver,
): Promise<void> {
  const resolved = new Set<string>()
  for (const { task } of tasks) {
    for (let topic = topicMissedBy(task); topic !== undefined; topic = topicMissedBy(task)) {
      // Known now and missed again: another look-up would not help either.
      if (resolved.has(topic)) throw new UnresolvedTopic(topic)
      resolved.add(topic)
      await resolveTopic(topic)
    }
  }
}

/** Flushes; the topic that hindered it. */
function topicMissedBy(task: Pick<ActiveTask['task'], 'flush'>): string | undefined {
  try {
    task.flush()
    return undefined
  } catch (error) {
    if (error instanceof UnresolvedTopic) return error.topic
    throw error
  }
}
