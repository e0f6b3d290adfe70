import { expect } from 'chai'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import type { OffsetAndMetadata } from '../../../src/kafka/offset-and-metadata.ts'
import { splitOffsets } from '../../../src/kafka/offset-splitting.ts'

describe('the offsets of requests', () => {
  it('put everything into one request where it fits', () => {
    expect(splitOffsets('group', offsetsOf({ a: 2, b: 1 }, ''))).to.deep.equal([
      [
        { name: 'a', partitions: [partition(0, ''), partition(1, '')] },
        { name: 'b', partitions: [partition(0, '')] },
      ],
    ])
  })

  it('split 300 partitions with full metadata below the size of a batch, and lose none', () => {
    const metadata = 'm'.repeat(4_096)
    const requests = splitOffsets('group', offsetsOf({ a: 100, b: 200 }, metadata))

    expect(requests).to.have.lengthOf(2)
    const sizes = requests.map(topics => JSON.stringify(topics).length)
    expect(Math.max(...sizes)).to.be.below(1_000_000)
    const seen = requests.flatMap(topics =>
      topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionIndex }) => `${name ?? ''}-${String(partitionIndex)}`),
      ),
    )
    expect(new Set(seen).size).to.equal(300)
    expect(seen).to.have.lengthOf(300)
  })

  it('measure metadata in bytes', () => {
    expect(splitOffsets('g', offsetsOf({ a: 4 }, 'ä'.repeat(100)), 700)).to.have.lengthOf(2)
    expect(splitOffsets('g', offsetsOf({ a: 4 }, 'a'.repeat(50)), 700)).to.have.lengthOf(1)
  })

  it('send an offset alone that is larger than the bound', () => {
    expect(splitOffsets('g', offsetsOf({ a: 2 }, 'x'.repeat(100)), 10)).to.have.lengthOf(2)
  })

  it('are none without offsets', () => {
    expect(splitOffsets('g', new TopicPartitionMap())).to.deep.equal([])
  })
})

function offsetsOf(topics: Readonly<Record<string, number>>, metadata: string): TopicPartitionMap<OffsetAndMetadata> {
  const offsets = new TopicPartitionMap<OffsetAndMetadata>()
  for (const [topic, count] of Object.entries(topics)) {
    for (let index = 0; index < count; index += 1) {
      offsets.set({ topic, partition: index }, { offset: 100 + index, leaderEpoch: 3, metadata })
    }
  }
  return offsets
}

function partition(index: number, metadata: string): object {
  return {
    partitionIndex: index,
    committedOffset: 100 + index,
    committedLeaderEpoch: 3,
    committedMetadata: metadata,
  }
}
