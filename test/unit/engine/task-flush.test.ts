import { expect } from 'chai'
import { UnresolvedTopic } from '../../../src/engine/record-collector.ts'
import { flushTasks } from '../../../src/engine/task-flush.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { processed, TaskRoom } from './engine-fakes.ts'

/** Counts behind a cache, each key to a topic of its own. */
function countsByKey(builder: StreamsBuilder): void {
  builder
    .stream('in', { key: string, value: string })
    .groupByKey()
    .count({ store: 'counts' })
    .toStream()
    .to((_count, key) => `out-${key}`, { key: string, value: long })
}

/** A task with counts in its cache, over a collector that knows no output topic yet. */
function cachedCounts(): { room: TaskRoom; known: Set<string>; tasks: ReturnType<TaskRoom['running']> } {
  const room = new TaskRoom(countsByKey, { 'statestore.cache.max.bytes': 1_000_000 })
  const known = new Set<string>()
  const send = room.collector.send.bind(room.collector)
  room.collector.send = (topic, ...rest) => {
    if (topic.startsWith('out-') && !known.has(topic)) throw new UnresolvedTopic(topic)
    send(topic, ...rest)
  }
  const tasks = room.running([{ topic: 'in', partition: 0 }])
  const [task] = tasks
  if (task === undefined) throw new Error('there is no task')
  processed(
    task,
    'in',
    ['a', 'b', 'a'].map((key, offset) => ({ key, value: 'v', offset, timestamp: offset })),
  )
  return { room, known, tasks }
}

describe('the flush of tasks', () => {
  it('looks up topics that results in caches choose, and writes every result once', async () => {
    const { room, known, tasks } = cachedCounts()
    const asked: string[] = []
    await flushTasks(tasks, topic => {
      asked.push(topic)
      known.add(topic)
      return Promise.resolve()
    })

    expect(asked).to.have.members(['out-a', 'out-b'])
    const sent = room.collector.sent.map(({ topic, key, value }) => [
      topic,
      Buffer.from(key ?? []).toString(),
      topic.startsWith('out-') ? Number(Buffer.from(value ?? []).readBigInt64BE()) : 'changelog',
    ])
    expect(sent).to.have.deep.members([
      ['app-counts-changelog', 'b', 'changelog'],
      ['out-b', 'b', 1],
      ['app-counts-changelog', 'a', 'changelog'],
      ['out-a', 'a', 2],
    ])
  })

  it('fails when a topic that was looked up is still missed', async () => {
    const { tasks } = cachedCounts()
    const missed = await flushTasks(tasks, () => Promise.resolve()).catch((error: unknown) => error)
    expect(missed).to.be.instanceOf(UnresolvedTopic)
  })
})
