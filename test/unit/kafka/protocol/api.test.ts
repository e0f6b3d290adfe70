import { expect } from 'chai'
import {
  type ApiName,
  apiKeyOf,
  apiOfKey,
  decodeRequestBody,
  decodeRequestHeader,
  decodeResponseBody,
  decodeResponseHeader,
  encodeRequestBody,
  encodeRequestHeader,
  encodeResponseBody,
  encodeResponseHeader,
  versionsOf,
} from '../../../../src/kafka/protocol/api.ts'
import { MillraceError } from '../../../../src/model/errors.ts'

const METADATA = {
  throttleTimeMs: 0,
  brokers: [{ nodeId: 1, host: 'localhost', port: 9092, rack: null }],
  clusterId: 'c',
  controllerId: 1,
  topics: [
    {
      errorCode: 0,
      name: 'orders',
      topicId: Buffer.alloc(16, 7),
      isInternal: false,
      partitions: [
        {
          errorCode: 0,
          partitionIndex: 0,
          leaderId: 1,
          leaderEpoch: 4,
          replicaNodes: [1],
          isrNodes: [1],
          offlineReplicas: [],
        },
      ],
      topicAuthorizedOperations: -2_147_483_648,
    },
  ],
  clusterAuthorizedOperations: -2_147_483_648,
  errorCode: 0,
}

describe('message codec', () => {
  it('gives absent fields of a request the default of the schema', () => {
    const bytes = encodeRequestBody('Metadata', 12, { topics: null })

    expect(decodeRequestBody('Metadata', 12, bytes)).to.deep.equal({
      topics: null,
      allowAutoTopicCreation: true,
      includeClusterAuthorizedOperations: false,
      includeTopicAuthorizedOperations: false,
    })
  })

  it('fills in fields that the version of a response lacks', () => {
    const bytes = encodeResponseBody('FindCoordinator', 2, {
      throttleTimeMs: 3,
      errorCode: 15,
      errorMessage: null,
      nodeId: -1,
      host: '',
      port: -1,
      coordinators: [],
    })

    expect(decodeResponseBody('FindCoordinator', 2, bytes).coordinators).to.deep.equal([])
    expect(decodeResponseBody('FindCoordinator', 2, bytes).errorCode).to.equal(15)
  })

  it('reads back every version of a response it writes', () => {
    for (let version = 9; version <= versionsOf('Metadata').max; version += 1) {
      const decoded = decodeResponseBody(
        'Metadata',
        version,
        encodeResponseBody('Metadata', version, {
          ...METADATA,
          errorCode: version < 13 ? 0 : 3,
        }),
      )
      expect(decoded.topics[0]?.partitions, `version ${String(version)}`).to.deep.equal(METADATA.topics[0]?.partitions)
      expect(decoded.errorCode).to.equal(version < 13 ? 0 : 3)
    }
  })

  it('keeps offsets up to 2^53-1 exact, negative ones too', () => {
    for (const offset of [0, -1, 4_294_967_296, -4_294_967_297, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
      const body = {
        groupId: 'g',
        topics: [{ name: 't', partitions: [{ partitionIndex: 0, committedOffset: offset }] }],
      }
      const decoded = decodeRequestBody('OffsetCommit', 8, encodeRequestBody('OffsetCommit', 8, withMetadata(body)))
      expect(decoded.topics[0]?.partitions[0]?.committedOffset).to.equal(offset)
    }
  })

  it('refuses an int64 that a number cannot hold', () => {
    const bytes = encodeResponseBody('InitProducerId', 2, {
      throttleTimeMs: 0,
      errorCode: 0,
      producerId: 1,
      producerEpoch: 0,
      ongoingTxnProducerId: -1,
      ongoingTxnProducerEpoch: -1,
    })
    bytes.writeBigInt64BE(2n ** 53n, 6)

    expect(() => decodeResponseBody('InitProducerId', 2, bytes)).to.throw(MillraceError, 'int64 beyond 2^53')
  })

  it('refuses a response cut off at any byte, without crashing', () => {
    const bytes = encodeResponseBody('Metadata', 12, METADATA)
    for (let length = 0; length < bytes.length; length += 1) {
      expect(() => decodeResponseBody('Metadata', 12, bytes.subarray(0, length)), String(length))
        .to.throw(MillraceError)
        .with.property('code', 'PROTOCOL_VIOLATION')
    }
  })

  it('refuses bytes after the end', () => {
    const bytes = Buffer.concat([encodeResponseBody('Metadata', 12, METADATA), Buffer.from([0])])

    expect(() => decodeResponseBody('Metadata', 12, bytes)).to.throw(MillraceError, '1 bytes after its end')
  })

  it('refuses an array longer than the bytes that are left, before it allocates', () => {
    const bytes = Buffer.from('000000007fffffff', 'hex')

    expect(() => decodeResponseBody('Metadata', 8, bytes)).to.throw(MillraceError, 'an array of 2147483647 elements')
  })

  it('gives records as a slice of the response, not a copy', () => {
    const records = Buffer.from('abc')
    const bytes = encodeResponseBody('Fetch', 12, fetchResponse(records))

    const decoded = decodeResponseBody('Fetch', 12, bytes).responses[0]?.partitions[0]?.records
    expect(decoded).to.deep.equal(records)
    expect(decoded?.buffer).to.equal(bytes.buffer)
  })

  it('never drops a generation silently: a version without the field is refused', () => {
    const body = { transactionalId: 'x', groupId: 'g', producerId: 1, producerEpoch: 0, topics: [] }

    expect(() => encodeRequestBody('TxnOffsetCommit', 2, { ...body, generationIdOrMemberEpoch: 5 })).to.throw(
      'generationId',
    )
    expect(encodeRequestBody('TxnOffsetCommit', 2, body)).to.have.length.above(0)
  })

  it('refuses a null where the version has none', () => {
    expect(() => encodeRequestBody('Metadata', 0, { topics: null })).to.throw('topics')
  })

  it('knows each request by its number', () => {
    const apis: readonly ApiName[] = ['Produce', 'Fetch', 'ApiVersions', 'TxnOffsetCommit', 'StreamsGroupHeartbeat']
    for (const api of apis) expect(apiOfKey(apiKeyOf(api))).to.equal(api)
    expect(apiOfKey(7)).to.equal(undefined)
  })
})

describe('message headers', () => {
  it('carry tags where the version is flexible', () => {
    expect(encodeRequestHeader('Fetch', 11, 5, 'me').toString('hex')).to.equal('0001000b0000000500026d65')
    expect(encodeRequestHeader('Fetch', 12, 5, 'me').toString('hex')).to.equal('0001000c0000000500026d6500')
    expect(decodeResponseHeader('Fetch', 12, Buffer.from('0000000500', 'hex')).bodyOffset).to.equal(5)
  })

  it('of ApiVersions responses never carry tags: a client reads them before it knows the broker', () => {
    expect(encodeResponseHeader('ApiVersions', 4, 5).toString('hex')).to.equal('00000005')
    expect(decodeResponseHeader('ApiVersions', 4, Buffer.from('0000000500', 'hex')).bodyOffset).to.equal(4)
  })

  it('are read with tags nobody knows', () => {
    const header = Buffer.from('00000005016302abcd', 'hex')

    expect(decodeResponseHeader('Fetch', 12, header)).to.deep.equal({ correlationId: 5, bodyOffset: 9 })
  })

  it('of requests are read back', () => {
    const header = encodeRequestHeader('Metadata', 12, -7, null)

    expect(decodeRequestHeader(header)).to.deep.equal({
      apiKey: 3,
      apiVersion: 12,
      correlationId: -7,
      clientId: null,
      bodyOffset: header.length,
    })
  })
})

interface OffsetsOf {
  readonly groupId: string
  readonly topics: readonly {
    readonly name: string
    readonly partitions: readonly { readonly partitionIndex: number; readonly committedOffset: number }[]
  }[]
}

function withMetadata({ groupId, topics }: OffsetsOf): Parameters<typeof encodeRequestBody<'OffsetCommit'>>[2] {
  return {
    groupId,
    memberId: '',
    topics: topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(partition => ({ ...partition, committedMetadata: null })),
    })),
  }
}

function fetchResponse(records: Buffer): Parameters<typeof encodeResponseBody<'Fetch'>>[2] {
  return {
    throttleTimeMs: 0,
    errorCode: 0,
    sessionId: 0,
    nodeEndpoints: [],
    responses: [
      {
        topic: 't',
        topicId: Buffer.alloc(16),
        partitions: [
          {
            partitionIndex: 0,
            errorCode: 0,
            highWatermark: 3,
            lastStableOffset: 3,
            logStartOffset: 0,
            divergingEpoch: { epoch: -1, endOffset: -1 },
            currentLeader: { leaderId: -1, leaderEpoch: -1 },
            snapshotId: { endOffset: -1, epoch: -1 },
            abortedTransactions: null,
            preferredReadReplica: -1,
            records,
          },
        ],
      },
    ],
  }
}
