import { expect } from 'chai'
import { InputRewinder } from '../../../src/engine/input-rewinder.ts'
import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import { string } from '../../../src/serdes/text.ts'
import { processed, TaskRoom } from './engine-fakes.ts'

const LEFT: TopicPartition = { topic: 'left', partition: 0 }
const RIGHT: TopicPartition = { topic: 'right', partition: 0 }

describe('the rewind after an abort', () => {
  it('takes every input of a task back to its commit, and drops what is queued', () => {
    const room = new TaskRoom(builder => {
      const text = { key: string, value: string }
      builder.stream(['left', 'right'], text).to('out')
    })
    const tasks = room.running([LEFT, RIGHT], 10)
    for (const task of tasks) {
      for (const { topicPartition } of task.inputs)
        processed(task, topicPartition.topic, [{ key: 'k', value: 'v', offset: 10 }])
    }
    const sought: [string, number][] = []
    const rewinder = new InputRewinder({ seek: ({ topic }, offset) => sought.push([topic, offset]) })
    rewinder.rewind(tasks)

    expect(sought).to.have.deep.members([
      ['left', 10],
      ['right', 10],
    ])
    expect(tasks.flatMap(task => task.inputs.map(input => task.positionOf(input)))).to.deep.equal([10, 10])
  })
})
