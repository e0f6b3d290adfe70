import { pathToFileURL } from 'node:url'
import { MillraceError, reasonOf } from '../model/errors.ts'
import { engineConfigOf, type EngineConfig } from '../config/engine-config.ts'
import type { ConfigNode } from '../config/config-node.ts'
import { buildApplication, loadApplication, type LoadedYaml } from '../config/load-application.ts'
import type { MillraceConfig } from '../config/millrace-config.ts'
import { isTopology, type Topology } from '../topology/topology.ts'

/** Where an application comes from. */
export type ApplicationSource =
  | { readonly kind: 'yaml'; readonly files: readonly string[]; readonly overrides: readonly string[] }
  | ModuleSource
  | { readonly kind: 'inline'; readonly topology: Topology; readonly config: MillraceConfig }

/** A module whose default export is the topology. */
export interface ModuleSource {
  readonly kind: 'module'
  readonly url: string
  readonly config: MillraceConfig
}

/**
 * Where a worker takes the application from. A graph has closures, which cannot be posted, so that each worker builds it
 * again: of the tree that was read once, because all threads must do the same though a file is changed meanwhile.
 */
export type WorkerSource = ModuleSource | { readonly kind: 'tree'; readonly root: ConfigNode }

/** An application ready to be planned. */
export interface LoadedApplication {
  readonly topology: Topology
  /** The same for workers; `undefined` where it cannot leave this thread. */
  readonly forWorkers: WorkerSource | undefined
  readonly config: EngineConfig
  /** What is odd but no mistake, one sentence each. */
  readonly warnings: readonly string[]
}

/** Loads an application. @throws MillraceError `CONFIG_INVALID` and its like, `MODULE_NOT_LOADED`, `TOPOLOGY_INVALID` */
export async function loadSource(source: ApplicationSource | WorkerSource): Promise<LoadedApplication> {
  switch (source.kind) {
    case 'yaml':
      return loadedYaml(await loadApplication(source.files, { overrides: source.overrides }))
    case 'tree':
      return loadedYaml(await buildApplication(source.root))
    case 'module':
      return {
        topology: await importTopology(source.url),
        config: engineConfigOf(source.config),
        forWorkers: source,
        warnings: [],
      }
    case 'inline':
      return {
        topology: source.topology,
        config: engineConfigOf(source.config),
        forWorkers: undefined,
        warnings: [],
      }
  }
}

function loadedYaml({ root, topology, config, warnings }: LoadedYaml): LoadedApplication {
  return { topology, config: engineConfigOf(config), forWorkers: { kind: 'tree', root }, warnings }
}

async function importTopology(url: string): Promise<Topology> {
  const module = await importModule(url.includes(':') ? url : pathToFileURL(url).href)
  const exported = typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined
  if (!isTopology(exported)) {
    throw new MillraceError('MODULE_NOT_LOADED', {
      what: `${url} has no topology as its default export.`,
      action: 'Write `export default streams(builder => { … })`.',
    })
  }
  return exported
}

async function importModule(url: string): Promise<unknown> {
  try {
    const module: unknown = await import(url)
    return module
  } catch (error) {
    throw new MillraceError('MODULE_NOT_LOADED', {
      cause: error,
      what: `${url} cannot be imported: ${reasonOf(error)}.`,
    })
  }
}
