import { expect } from 'chai'
import { offsetCommitRequests } from '../../../../src/kafka/group/offset-commit-request.ts'
import { offsetFetchAnswers, offsetFetchRequest } from '../../../../src/kafka/group/offset-fetch-request.ts'
import {
  decodeRequestBody,
  decodeResponseBody,
  encodeRequestBody,
  encodeResponseBody,
} from '../../../../src/kafka/protocol/api.ts'
import { TopicPartitionMap } from '../../../../src/model/topic-partition.ts'

const MEMBER = { generationId: 3, memberId: 'me', groupInstanceId: 'one' }

describe('OffsetFetch', () => {
  for (const version of [7, 8, 9]) {
    it(`asks for stable offsets and reads the answer in version ${String(version)}`, () => {
      const partitions = [
        { topic: 'a', partition: 2 },
        { topic: 'b', partition: 0 },
        { topic: 'a', partition: 1 },
        { topic: 'a', partition: 2 },
      ]
      const request = decodeRequestBody(
        'OffsetFetch',
        version,
        encodeRequestBody('OffsetFetch', version, offsetFetchRequest('g', partitions, version)),
      )
      expect(request.requireStable).to.equal(true)
      const topics = version >= 8 ? request.groups[0]?.topics : request.topics
      expect(topics?.map(({ name, partitionIndexes }) => [name, partitionIndexes])).to.deep.equal([
        ['a', [2, 1]],
        ['b', [0]],
      ])

      const answered = [
        {
          name: 'a',
          partitions: [
            { partitionIndex: 1, committedOffset: 7, committedLeaderEpoch: 4, metadata: 'm', errorCode: 0 },
            { partitionIndex: 2, committedOffset: -1, committedLeaderEpoch: -1, metadata: null, errorCode: 88 },
          ],
        },
      ]
      const body = {
        throttleTimeMs: 0,
        errorCode: version >= 8 ? 0 : 16,
        topics: version >= 8 ? [] : answered,
        groups:
          version >= 8
            ? [
                {
                  groupId: 'g',
                  errorCode: 16,
                  topics: answered.map(topic => ({ ...topic, topicId: Buffer.alloc(16) })),
                },
              ]
            : [],
      }
      const response = decodeResponseBody('OffsetFetch', version, encodeResponseBody('OffsetFetch', version, body))
      const { errorCode, offsets } = offsetFetchAnswers('g', response)
      expect(errorCode).to.equal(16)
      expect([...offsets.values()]).to.deep.equal([
        { errorCode: 0, offset: 7, leaderEpoch: 4, metadata: 'm' },
        { errorCode: 88, offset: -1, leaderEpoch: -1, metadata: '' },
      ])
    })
  }
})

describe('OffsetCommit', () => {
  it('names member, instance and generation, and groups partitions by topic', () => {
    const offsets = new TopicPartitionMap([
      [
        { topic: 'a', partition: 0 },
        { offset: 1, leaderEpoch: 5, metadata: 'x' },
      ],
      [
        { topic: 'a', partition: 1 },
        { offset: 2, leaderEpoch: -1, metadata: '' },
      ],
    ])
    expect(offsetCommitRequests('g', MEMBER, offsets)).to.deep.equal([
      {
        groupId: 'g',
        generationIdOrMemberEpoch: 3,
        memberId: 'me',
        groupInstanceId: 'one',
        topics: [
          {
            name: 'a',
            partitions: [
              { partitionIndex: 0, committedOffset: 1, committedLeaderEpoch: 5, committedMetadata: 'x' },
              { partitionIndex: 1, committedOffset: 2, committedLeaderEpoch: -1, committedMetadata: '' },
            ],
          },
        ],
      },
    ])
  })

  it('becomes several requests below 900 kB each, every partition in one of them', () => {
    const metadata = 'ä'.repeat(4_096)
    const offsets = new TopicPartitionMap(
      Array.from({ length: 300 }, (_, partition) => [
        { topic: 'wide', partition },
        { offset: partition, leaderEpoch: -1, metadata },
      ]),
    )
    const requests = offsetCommitRequests('g', MEMBER, offsets)
    expect(requests.length).to.be.greaterThan(1)
    for (const request of requests) expect(encodeRequestBody('OffsetCommit', 9, request).length).to.be.below(900_000)
    const indexes = requests.flatMap(({ topics }) =>
      topics.flatMap(({ partitions }) => partitions.map(p => p.partitionIndex)),
    )
    expect(indexes).to.deep.equal(Array.from({ length: 300 }, (_, n) => n))
  })

  it('is nothing at all for no offsets', () => {
    expect(offsetCommitRequests('g', MEMBER, new TopicPartitionMap())).to.deep.equal([])
  })
})
