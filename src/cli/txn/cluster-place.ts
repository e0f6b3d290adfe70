import type { Argv } from 'yargs'
import { engineConfigOf, type EngineConfig } from '../../config/engine-config.ts'
import type { ApplicationPlan } from '../../topology/plan.ts'
import {
  applicationPlace,
  withApplicationOptions,
  type ApplicationOptions,
  type ApplicationPlace,
} from '../application-options.ts'
import { loadPlanned } from '../loaded-application.ts'
import { UsageError } from '../usage-error.ts'
import { clientPropertiesOf } from './client-properties.ts'

/** Options that name a cluster: by an application that uses it, or by its address. */
export interface ClusterOptions extends ApplicationOptions {
  readonly 'bootstrap-server': string | undefined
  readonly 'command-config': string | undefined
}

/** Adds them to a command whose usage has the positional `[files..]`. */
export function withClusterOptions(yargs: Argv): Argv<ClusterOptions> {
  return withApplicationOptions(yargs)
    .alias('config', 'application')
    .option('bootstrap-server', {
      type: 'string',
      describe: 'host:port of a cluster, instead of the file of an application',
    })
    .option('command-config', {
      type: 'string',
      describe: "with --bootstrap-server: properties for TLS and login, as Kafka's own tools take them",
    })
}

/** A cluster, and the application whose settings lead there. */
export type ClusterPlace =
  | { readonly application: ApplicationPlace }
  | { readonly bootstrapServer: string; readonly commandConfig: string | undefined }

/** @throws UsageError with neither or both of file and address */
export function clusterPlace(
  options: ApplicationOptions & {
    readonly bootstrapServer: string | undefined
    readonly commandConfig: string | undefined
  },
): ClusterPlace {
  const { bootstrapServer, commandConfig, files = [], config = [] } = options
  const named = files.length + config.length > 0
  if (bootstrapServer !== undefined) {
    if (named) throw new UsageError('Name either an application or --bootstrap-server.')
    return { bootstrapServer, commandConfig }
  }
  if (commandConfig !== undefined) throw new UsageError('--command-config belongs to --bootstrap-server.')
  if (!named) throw new UsageError('Name the YAML file of an application, or --bootstrap-server.')
  return { application: applicationPlace(options) }
}

/** How to reach the cluster, and the application, if one was named. */
export interface LoadedCluster {
  readonly config: EngineConfig
  readonly plan: ApplicationPlan | undefined
}

/** Loads the application, or makes the settings of an address. @throws MillraceError with every mistake */
export async function loadCluster(place: ClusterPlace): Promise<LoadedCluster> {
  if ('application' in place) return await loadPlanned(place.application)
  const { bootstrapServer, commandConfig } = place
  const properties = commandConfig === undefined ? {} : clientPropertiesOf(commandConfig)
  const config = engineConfigOf({
    // Nothing of that name is looked for; it is how the connections call themselves.
    streams: { 'application.id': 'millrace' },
    kafka: { ...properties, 'bootstrap.servers': bootstrapServer },
  })
  return { config, plan: undefined }
}
