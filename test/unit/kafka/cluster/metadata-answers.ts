import type { ResponseBodies } from '../../../../src/kafka/protocol/api.ts'

/** What brokers put for operations that were not asked for. */
const NOT_ASKED = -2_147_483_648

type Metadata = ResponseBodies['Metadata']

/** A Metadata answer; what is not given is empty. */
export function metadataAnswer({
  brokers = [],
  topics = [],
}: {
  brokers?: readonly { nodeId: number; host: string; port: number }[]
  topics?: Metadata['topics']
}): Metadata {
  return {
    throttleTimeMs: 0,
    brokers: brokers.map(broker => ({ ...broker, rack: null })),
    clusterId: 'test',
    controllerId: 1,
    topics,
    clusterAuthorizedOperations: NOT_ASKED,
    errorCode: 0,
  }
}

/** A topic of a Metadata answer, with a leader per partition. */
export function topicAnswer(
  name: string,
  leaders: readonly { leader: number; epoch?: number }[],
  { topicId = 1, errorCode = 0 }: { topicId?: number; errorCode?: number } = {},
): Metadata['topics'][number] {
  return {
    errorCode,
    name,
    topicId: Buffer.alloc(16, topicId),
    isInternal: false,
    topicAuthorizedOperations: NOT_ASKED,
    partitions: leaders.map(({ leader, epoch = 0 }, partitionIndex) => ({
      errorCode: 0,
      partitionIndex,
      leaderId: leader,
      leaderEpoch: epoch,
      replicaNodes: [leader],
      isrNodes: [leader],
      offlineReplicas: [],
    })),
  }
}
