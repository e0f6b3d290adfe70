import { MillraceError } from '../../model/errors.ts'
import type { Connection } from '../connection/connection.ts'
import type { ResponseBodies } from '../protocol/messages.generated.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import { adminFailure, untilAnswered, type AdminContext } from './admin-call.ts'

/** Whose configuration. */
export interface ConfigResource {
  readonly type: 'topic' | 'broker'
  /** Topic, or node id; an empty name stands for all brokers. */
  readonly name: string
}

/** What to change of a configuration; all else stays. */
export interface ConfigChanges {
  readonly set?: Readonly<Record<string, string>>
  /** Names that go back to their default. */
  readonly unset?: readonly string[]
}

const RESOURCE_TYPES: Readonly<Record<ConfigResource['type'], number>> = { topic: 2, broker: 4 }
const OPERATION_SET = 0
const OPERATION_DELETE = 1

/** A broker may not know yet a topic that another one just created; longer than this it is missing. */
const PROPAGATION_MS = 1_000

/** As `Admin.describeTopicConfigs`. */
export async function describeTopicConfigs(
  context: AdminContext,
  names: readonly string[],
): Promise<Map<string, Map<string, string>>> {
  if (names.length === 0) return new Map()
  const startedAtMs = context.clock.nowMs()
  return untilAnswered(context, context.timeoutMs, async deadline => {
    const connection = await deadline.bound('No broker could be reached', context.cluster.anyConnection('control'))
    const resources = names.map(name => ({ type: 'topic' as const, name }))
    const results = await describe(connection, resources, Math.max(1, deadline.remainingMs))
    const found = new Map<string, Map<string, string>>()
    for (const { errorCode, errorMessage, resourceName, configs } of results) {
      if (errorCode === 0) {
        found.set(resourceName, valuesOf(configs))
        continue
      }
      const subject = { topic: resourceName, doing: 'read the configuration' }
      const failure = adminFailure(errorCode, subject, errorMessage)
      const early = context.clock.nowMs() - startedAtMs < PROPAGATION_MS
      if (errorCode !== ERROR_CODE.UNKNOWN_TOPIC_OR_PARTITION || !early) throw failure
      throw new MillraceError('TOPIC_MISSING', { ...failure.details, reaction: 'retry' })
    }
    return found
  })
}

/** As `Admin.describeBrokerConfig`. */
export function describeBrokerConfig(context: AdminContext, nodeId?: number): Promise<Map<string, string>> {
  return untilAnswered(context, context.timeoutMs, async deadline => {
    const [first] = context.cluster.brokers.keys()
    const node = nodeId ?? first ?? -1
    // Only the broker itself knows its configuration.
    const opening = context.cluster.connection(node, 'control')
    const connection = await deadline.bound(`Broker ${String(node)} could not be reached`, opening)
    const resource = { type: 'broker' as const, name: String(node) }
    const [result] = await describe(connection, [resource], Math.max(1, deadline.remainingMs))
    if (result === undefined || result.errorCode !== 0) {
      const doing = `read the configuration of broker ${String(node)}`
      throw adminFailure(result?.errorCode ?? -1, { doing }, result?.errorMessage)
    }
    return valuesOf(result.configs)
  })
}

/** As `Admin.alterConfigs`. */
export async function alterConfigs(
  context: AdminContext,
  { type, name }: ConfigResource,
  { set = {}, unset = [] }: ConfigChanges,
): Promise<void> {
  const configs = [
    ...Object.entries(set).map(([key, value]) => ({ name: key, configOperation: OPERATION_SET, value })),
    ...unset.map(key => ({ name: key, configOperation: OPERATION_DELETE, value: null })),
  ]
  await untilAnswered(context, context.timeoutMs, async deadline => {
    const connection = await deadline.bound('No broker could be reached', context.cluster.anyConnection('control'))
    const resources = [{ resourceType: RESOURCE_TYPES[type], resourceName: name, configs }]
    const timeoutMs = Math.max(1, deadline.remainingMs)
    const response = await connection.send('IncrementalAlterConfigs', { resources, validateOnly: false }, { timeoutMs })
    for (const { errorCode, errorMessage } of response.responses) {
      if (errorCode !== 0) throw adminFailure(errorCode, { doing: `configure the ${type} ${name}` }, errorMessage)
    }
  })
}

type ConfigResult = ResponseBodies['DescribeConfigs']['results'][number]

async function describe(
  connection: Connection,
  resources: readonly ConfigResource[],
  timeoutMs: number,
): Promise<readonly ConfigResult[]> {
  const asked = resources.map(({ type, name }) => ({
    resourceType: RESOURCE_TYPES[type],
    resourceName: name,
    configurationKeys: null,
  }))
  return (await connection.send('DescribeConfigs', { resources: asked }, { timeoutMs })).results
}

/** Secrets come without their value and are left out. */
function valuesOf(configs: ConfigResult['configs']): Map<string, string> {
  return new Map(configs.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const])))
}
