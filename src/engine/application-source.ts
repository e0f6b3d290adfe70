import { pathToFileURL } from 'node:url'
import { MillraceError, reasonOf } from '../model/errors.ts'
import { engineConfigOf, type EngineConfig } from '../config/engine-config.ts'
import { loadApplication } from '../config/load-application.ts'
import type { MillraceConfig } from '../config/millrace-config.ts'
import { isTopology, type Topology } from '../topology/topology.ts'

/** Where an application comes from. All but `inline` can be posted to a worker, which loads it again by itself: closures cannot travel. */
export type ApplicationSource =
  | { readonly kind: 'yaml'; readonly files: readonly string[]; readonly overrides: readonly string[] }
  | { readonly kind: 'module'; readonly url: string; readonly config: MillraceConfig }
  | { readonly kind: 'inline'; readonly topology: Topology; readonly config: MillraceConfig }

/** An application ready to be planned. */
export interface LoadedApplication {
  readonly topology: Topology
  readonly config: EngineConfig
  /** What is odd but no mistake, one sentence each. */
  readonly warnings: readonly string[]
}

/** Loads an application. @throws MillraceError `CONFIG_INVALID` and its like, `MODULE_NOT_LOADED`, `TOPOLOGY_INVALID` */
export async function loadSource(source: ApplicationSource): Promise<LoadedApplication> {
  switch (source.kind) {
    case 'yaml': {
      const { config, topology, warnings } = await loadApplication(source.files, { overrides: source.overrides })
      return { topology, config: engineConfigOf(config), warnings }
    }
    case 'module':
      return { topology: await importTopology(source.url), config: engineConfigOf(source.config), warnings: [] }
    case 'inline':
      return { topology: source.topology, config: engineConfigOf(source.config), warnings: [] }
  }
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
