import { prepareCluster, topicPreparationOf } from '../engine/cluster-preparation.ts'
import { systemClock } from '../engine/system-clock.ts'
import { planTopics, type TopicPlan } from '../engine/topic-preparation.ts'
import { SILENT_LOGGER } from '../model/logger.ts'
import type { ApplicationPlace } from './application-options.ts'
import { withCluster } from './cluster-access.ts'
import type { CommandIo } from './command-io.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { loadPlanned, type PlannedApplication } from './loaded-application.ts'
import { textTable } from './text-table.ts'

/** `millrace topics`. @returns the exit code */
export async function manageTopics(
  place: ApplicationPlace,
  { dryRun }: { readonly dryRun: boolean },
  io: CommandIo,
): Promise<number> {
  const application = await loadPlanned(place)
  io.out(topicsTable(await plannedTopics(application), dryRun ? 'would be created' : 'created'))
  if (!dryRun) {
    const { plan, config } = application
    // Asked for by name, so the switch that keeps a running application from creating topics does not count.
    await prepareCluster({
      config: { ...config, topicsCreate: true },
      plan,
      clock: systemClock,
      random: Math.random,
      logger: SILENT_LOGGER,
    })
  }
  return EXIT_CODES.ok
}

/** Every topic of an application, as the cluster has it or as it would be created. */
function plannedTopics({ config, plan }: PlannedApplication): Promise<readonly TopicPlan[]> {
  return withCluster(config, access =>
    planTopics(
      topicPreparationOf({ config, plan, clock: systemClock, random: Math.random, logger: SILENT_LOGGER }, access),
    ),
  )
}

/** @param missing - what to say of a topic that is not there */
export function topicsTable(topics: readonly TopicPlan[], missing: string): string {
  return textTable([
    ['topic', 'kind', 'partitions', '', 'configuration'],
    ...topics.map(({ topic, kind, partitions, exists, configs }) => [
      topic,
      kind,
      String(partitions),
      exists ? 'exists' : missing,
      Object.entries(configs)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    ]),
  ])
}
