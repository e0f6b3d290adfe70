import type { EngineConfig } from '../config/engine-config.ts'
import { loadSource } from '../engine/application-source.ts'
import { planApplication } from '../topology/plan-application.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import type { ApplicationPlace } from './application-options.ts'
import { applicationSource } from './application-source.ts'

/** An application as its files say, checked without a cluster. */
export interface PlannedApplication {
  readonly config: EngineConfig
  readonly plan: ApplicationPlan
  readonly warnings: readonly string[]
}

/** Loads and plans. @throws MillraceError with every mistake */
export async function loadPlanned(place: ApplicationPlace): Promise<PlannedApplication> {
  const { config, topology, warnings } = await loadSource(await applicationSource(place))
  const plan = planApplication(topology, config.streamsProperties)
  return { config, plan, warnings: [...warnings, ...plan.warnings] }
}
