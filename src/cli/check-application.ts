import { counted } from '../model/counted.ts'
import type { EngineConfig } from '../config/engine-config.ts'
import { topicPreparationOf } from '../engine/cluster-preparation.ts'
import { withPrincipal } from '../engine/principal.ts'
import { systemClock } from '../engine/system-clock.ts'
import { planTopics } from '../engine/topic-preparation.ts'
import { transactionTimeoutBound } from '../engine/transaction-timeout.ts'
import { MillraceError } from '../model/errors.ts'
import { SILENT_LOGGER } from '../model/logger.ts'
import type { ApplicationPlace } from './application-options.ts'
import { withCluster, type ClusterAccess } from './cluster-access.ts'
import type { CommandIo } from './command-io.ts'
import { errorBlock } from './error-block.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { loadPlanned } from './loaded-application.ts'
import { topicsTable } from './manage-topics.ts'

/** `millrace check`: goes on after a finding, so that one run shows all of them. @returns the exit code of the first */
export async function checkApplication(place: ApplicationPlace, io: CommandIo): Promise<number> {
  const { config, plan, warnings } = await loadPlanned(place)
  for (const warning of warnings) io.err(`warning: ${warning}`)
  io.out(`ok    configuration: application ${config.applicationId}, ${config.guarantee}`)
  const failures: MillraceError[] = []
  await withCluster(config, async access => {
    io.out(`ok    reached ${addressesOf(config)} (${config.security.protocol}${userOf(config)})`)
    const checks: readonly (readonly [string, () => Promise<string>])[] = [
      ['transactions', () => checkTransactions(access, config)],
      ['group', () => checkGroup(access, config)],
      [
        'topics',
        async () => {
          const preparation = topicPreparationOf(
            { config, plan, clock: systemClock, random: Math.random, logger: SILENT_LOGGER },
            access,
          )
          const topics = await planTopics(preparation)
          const missing = topics.filter(({ exists }) => !exists).length
          return `${counted(topics.length, 'topic')}, ${String(missing)} to be created\n${topicsTable(topics, 'would be created')}`
        },
      ],
    ]
    for (const [name, check] of checks) {
      try {
        io.out(`ok    ${name}: ${await check()}`)
      } catch (error) {
        if (!(error instanceof MillraceError)) throw error
        failures.push(error)
        io.out(`FAIL  ${name}: ${error.message}`)
        io.err(errorBlock(withPrincipal(error, config.security)))
      }
    }
  })
  return failures[0]?.exitCode ?? EXIT_CODES.ok
}

async function checkTransactions({ cluster, admin }: ClusterAccess, config: EngineConfig): Promise<string> {
  if (config.guarantee !== 'exactly_once_v2') return `not used under ${config.guarantee}`
  const timeout = `transaction.version ${String(cluster.transactionVersion)}, transaction.timeout.ms ${String(config.transactionTimeoutMs)}`
  const maxMs = await transactionTimeoutBound(admin, config)
  // A running application does without this right, so it is no finding.
  if (maxMs === undefined) {
    return `${timeout}; may not read transaction.max.timeout.ms of the brokers (DescribeConfigs on the cluster)`
  }
  return `${timeout} of at most ${String(maxMs)}`
}

async function checkGroup({ admin }: ClusterAccess, { applicationId }: EngineConfig): Promise<string> {
  const { state, members } = await admin.describeGroup(applicationId)
  return state === 'Dead'
    ? `${applicationId} does not exist yet`
    : `${applicationId} is ${state} with ${counted(members.length, 'member')}`
}

function addressesOf({ bootstrapServers }: EngineConfig): string {
  return bootstrapServers.map(({ host, port }) => `${host}:${String(port)}`).join(',')
}

function userOf({ security }: EngineConfig): string {
  return security.sasl === undefined ? '' : `, ${security.sasl.mechanism} as ${security.sasl.username}`
}
