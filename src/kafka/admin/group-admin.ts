import { counted } from '../../model/counted.ts'
import { MillraceError } from '../../model/errors.ts'
import { TopicPartitionMap, type TopicPartition } from '../../model/topic-partition.ts'
import type { Deadline } from '../cluster/deadline.ts'
import type { OffsetAndMetadata } from '../offset-and-metadata.ts'
import { groupByTopic } from '../partition-grouping.ts'
import { decodeAssignment } from '../protocol/consumer-protocol.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import type { ApiName, RequestBodies, ResponseBodies } from '../protocol/messages.generated.ts'
import { adminFailure, untilAnswered, type AdminContext } from './admin-call.ts'

/** A member of a consumer group. */
export interface GroupMemberDescription {
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly clientId: string
  readonly host: string
  readonly partitions: readonly TopicPartition[]
}

/** A consumer group as its coordinator sees it. */
export interface GroupDescription {
  readonly groupId: string
  /** Such as `Stable`, `Empty`, `PreparingRebalance`; `Dead` when there is no such group. */
  readonly state: string
  readonly protocolType: string
  /** Name of the protocol that was agreed on, such as that of an assignor. */
  readonly protocol: string
  readonly members: readonly GroupMemberDescription[]
}

/** A group as a listing shows it. */
export interface ListedGroup {
  readonly groupId: string
  readonly protocolType: string
  /** Empty where the broker does not tell. */
  readonly state: string
}

/** From 8 on one request asks about several groups. */
const BATCHED_OFFSET_FETCH_VERSION = 8
const NO_GENERATION = -1
const MEMBERS_SHOWN_MAX = 10

/** As `Admin.describeGroup`. */
export function describeGroup(context: AdminContext, groupId: string): Promise<GroupDescription> {
  return untilAnswered(context, context.timeoutMs, async () => {
    const response = await callGroup(context, groupId, 'DescribeGroups', { groups: [groupId] }, body =>
      body.groups.map(({ errorCode }) => errorCode),
    )
    const group = response.groups.find(each => each.groupId === groupId)
    if (group === undefined || group.errorCode !== 0) {
      throw adminFailure(group?.errorCode ?? -1, { doing: `describe the group ${groupId}` }, group?.errorMessage)
    }
    const { groupState, protocolType, protocolData, members } = group
    return {
      groupId,
      state: groupState,
      protocolType,
      protocol: protocolData,
      members: members.map(({ memberId, groupInstanceId, clientId, clientHost, memberAssignment }) => ({
        memberId,
        groupInstanceId,
        clientId,
        host: clientHost,
        partitions: memberAssignment.length === 0 ? [] : decodeAssignment(memberAssignment).partitions,
      })),
    }
  })
}

/** As `Admin.listGroups`. */
export function listGroups(context: AdminContext): Promise<ListedGroup[]> {
  return untilAnswered(context, context.timeoutMs, async deadline => {
    const found: ListedGroup[] = []
    for (const nodeId of context.cluster.brokers.keys()) {
      const opening = context.cluster.connection(nodeId, 'control')
      const connection = await deadline.bound(`Broker ${String(nodeId)} could not be reached`, opening)
      const response = await connection.send('ListGroups', {}, { timeoutMs: Math.max(1, deadline.remainingMs) })
      if (response.errorCode !== 0) throw adminFailure(response.errorCode, { doing: 'list the groups' })
      for (const { groupId, protocolType, groupState } of response.groups) {
        found.push({ groupId, protocolType, state: groupState })
      }
    }
    return found
  })
}

/** As `Admin.deleteGroup`. */
export function deleteGroup(context: AdminContext, groupId: string): Promise<boolean> {
  return untilAnswered(context, context.timeoutMs, async () => {
    const response = await callGroup(context, groupId, 'DeleteGroups', { groupsNames: [groupId] }, body =>
      body.results.map(({ errorCode }) => errorCode),
    )
    const [result] = response.results
    if (result?.errorCode === ERROR_CODE.GROUP_ID_NOT_FOUND) return false
    if (result?.errorCode === ERROR_CODE.NON_EMPTY_GROUP) throw await hasMembers(context, groupId, 'delete the group')
    if (result?.errorCode !== 0) throw adminFailure(result?.errorCode ?? -1, { doing: `delete the group ${groupId}` })
    return true
  })
}

/** It would pass once the members have left; whoever asked has to know them instead, and may be wrong about the group. */
async function hasMembers(context: AdminContext, groupId: string, doing: string): Promise<MillraceError> {
  const { members } = await describeGroup(context, groupId)
  const names = members.map(({ groupInstanceId, memberId, host }) => `${groupInstanceId ?? memberId} at ${host}`)
  const shown = names.slice(0, MEMBERS_SHOWN_MAX).join(', ')
  const more = names.length > MEMBERS_SHOWN_MAX ? ` and ${String(names.length - MEMBERS_SHOWN_MAX)} more` : ''
  return new MillraceError('KAFKA_ERROR', {
    kafkaCode: ERROR_CODE.NON_EMPTY_GROUP,
    // Who had left by then is no reason any more.
    reaction: members.length === 0 ? 'retry' : 'stop',
    what: `Cannot ${doing} ${groupId}: it has ${counted(members.length, 'member')}${shown === '' ? '' : `, ${shown}${more}`}.`,
    action: 'Stop them first. A killed static member stays until its session timeout has passed.',
  })
}

/** As `Admin.committedOffsets`. */
export function committedOffsets(
  context: AdminContext,
  groupId: string,
  partitions: readonly TopicPartition[] | undefined,
  requireStable: boolean,
): Promise<TopicPartitionMap<OffsetAndMetadata>> {
  return untilAnswered(context, context.timeoutMs, async deadline => {
    try {
      return await fetchOffsets(context, { groupId, partitions, requireStable }, deadline)
    } catch (error) {
      // Whatever went wrong: a coordinator that ended would be asked for ever.
      context.cluster.forgetCoordinator('group', groupId)
      throw error
    }
  })
}

interface OffsetQuestion {
  readonly groupId: string
  readonly partitions: readonly TopicPartition[] | undefined
  readonly requireStable: boolean
}

async function fetchOffsets(
  { cluster }: AdminContext,
  { groupId, partitions, requireStable }: OffsetQuestion,
  deadline: Deadline,
): Promise<TopicPartitionMap<OffsetAndMetadata>> {
  const nodeId = await cluster.coordinator('group', groupId, deadline.remainingMs)
  const connection = await deadline.bound(
    `The coordinator of group ${groupId} could not be reached`,
    cluster.connection(nodeId, 'coordinator'),
  )
  const topics = topicsOf(partitions)
  const batched = (connection.apiVersions.best('OffsetFetch') ?? 0) >= BATCHED_OFFSET_FETCH_VERSION
  const which = batched ? { groups: [{ groupId, topics }] } : { groupId, topics }
  const timeoutMs = Math.max(1, deadline.remainingMs)
  const response = await connection.send('OffsetFetch', { ...which, requireStable }, { timeoutMs })
  const group = batched ? response.groups.find(each => each.groupId === groupId) : response
  const doing = `read the committed offsets of the group ${groupId}`
  if (group === undefined || group.errorCode !== 0) throw adminFailure(group?.errorCode ?? -1, { doing })
  return offsetsOf(group.topics, doing)
}

function topicsOf(
  partitions: readonly TopicPartition[] | undefined,
): { name: string; partitionIndexes: number[] }[] | null {
  if (partitions === undefined) return null
  return [...groupByTopic(partitions)].map(([name, partitionIndexes]) => ({ name, partitionIndexes }))
}

function offsetsOf(
  topics: ResponseBodies['OffsetFetch']['topics'] | ResponseBodies['OffsetFetch']['groups'][number]['topics'],
  doing: string,
): TopicPartitionMap<OffsetAndMetadata> {
  const found = new TopicPartitionMap<OffsetAndMetadata>()
  for (const { name: topic, partitions } of topics) {
    for (const { partitionIndex, committedOffset, committedLeaderEpoch, metadata, errorCode } of partitions) {
      const place = { topic, partition: partitionIndex }
      // 88 passes once the transaction that holds the offset ends; that is among what is tried again.
      if (errorCode !== 0) throw adminFailure(errorCode, { ...place, doing }, textOf(errorCode))
      if (committedOffset < 0) continue
      found.set(place, { offset: committedOffset, leaderEpoch: committedLeaderEpoch, metadata: metadata ?? '' })
    }
  }
  return found
}

function textOf(errorCode: number): string | null {
  return errorCode === ERROR_CODE.UNSTABLE_OFFSET_COMMIT
    ? 'a transaction with an offset of this partition is still open'
    : null
}

/** As `Admin.alterGroupOffsets`. */
export async function alterGroupOffsets(
  context: AdminContext,
  groupId: string,
  offsets: TopicPartitionMap<OffsetAndMetadata>,
): Promise<void> {
  const topics = [...offsets.byTopic()].map(([name, partitions]) => ({
    name,
    partitions: [...partitions].map(([partitionIndex, { offset, leaderEpoch, metadata }]) => ({
      partitionIndex,
      committedOffset: offset,
      committedLeaderEpoch: leaderEpoch,
      committedMetadata: metadata,
    })),
  }))
  await untilAnswered(context, context.timeoutMs, async () => {
    const body = { groupId, generationIdOrMemberEpoch: NO_GENERATION, memberId: '', topics }
    const response = await callGroup(context, groupId, 'OffsetCommit', body, answer =>
      answer.topics.flatMap(({ partitions }) => partitions.map(({ errorCode }) => errorCode)),
    )
    for (const { name, partitions } of response.topics) {
      for (const { partitionIndex, errorCode } of partitions) {
        if (errorCode === 0) continue
        if (errorCode === ERROR_CODE.UNKNOWN_MEMBER_ID) {
          throw await hasMembers(context, groupId, 'set the offsets of the group')
        }
        const subject = { topic: name, partition: partitionIndex, doing: `set the offset of the group ${groupId}` }
        throw adminFailure(errorCode, subject)
      }
    }
  })
}

/** As `Admin.removeMembers`. */
export async function removeMembers(
  context: AdminContext,
  groupId: string,
  members: readonly { readonly memberId: string; readonly groupInstanceId: string | null }[],
): Promise<void> {
  await untilAnswered(context, context.timeoutMs, async () => {
    const body = { groupId, members }
    const response = await callGroup(context, groupId, 'LeaveGroup', body, answer => [answer.errorCode])
    const codes = [response.errorCode, ...response.members.map(({ errorCode }) => errorCode)]
    const failed = codes.find(code => code !== 0 && code !== ERROR_CODE.UNKNOWN_MEMBER_ID)
    if (failed !== undefined) throw adminFailure(failed, { doing: `remove members of the group ${groupId}` })
  })
}

function callGroup<A extends ApiName>(
  { cluster, timeoutMs }: AdminContext,
  groupId: string,
  api: A,
  body: RequestBodies[A],
  errorCodesOf: (response: ResponseBodies[A]) => readonly number[],
): Promise<ResponseBodies[A]> {
  return cluster.coordinatorCall('group', groupId, api, body, { timeoutMs, retryLost: true, errorCodesOf })
}
