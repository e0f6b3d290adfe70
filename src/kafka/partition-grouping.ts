import type { TopicPartition } from '../model/topic-partition.ts'

/** Partitions grouped by topic, as requests want them. */
export function groupByTopic(partitions: Iterable<TopicPartition>): Map<string, number[]> {
  const byTopic = new Map<string, number[]>()
  for (const { topic, partition } of partitions) {
    const list = byTopic.get(topic)
    if (list === undefined) byTopic.set(topic, [partition])
    else list.push(partition)
  }
  return byTopic
}
