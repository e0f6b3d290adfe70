import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { MillraceConfig } from '../config/millrace-config.ts'
import type { ApplicationSource } from '../engine/application-source.ts'
import { MillraceError, reasonOf } from '../model/errors.ts'
import type { ApplicationPlace } from './application-options.ts'
import { UsageError } from './usage-error.ts'

const MODULE = /\.[cm]?[jt]s$/

/**
 * An application as the engine loads it: YAML files, or one module whose default export is the topology and whose
 * export `config` is the configuration.
 *
 * @throws UsageError for a module among other files, `MODULE_NOT_LOADED` for one that has no configuration
 */
export async function applicationSource({ files, overrides }: ApplicationPlace): Promise<ApplicationSource> {
  const module = files.find(file => MODULE.test(file))
  if (module === undefined) return { kind: 'yaml', files, overrides }
  if (files.length > 1 || overrides.length > 0) {
    throw new UsageError(`${module} is a module and brings its own configuration: no other files, no --set.`)
  }
  const url = pathToFileURL(resolve(module)).href
  return { kind: 'module', url, config: await importConfig(url, module) }
}

async function importConfig(url: string, file: string): Promise<MillraceConfig> {
  const module: unknown = await import(url).catch((cause: unknown) => {
    throw new MillraceError('MODULE_NOT_LOADED', { cause, what: `${file} cannot be imported: ${reasonOf(cause)}` })
  })
  if (isConfigured(module)) return module.config
  throw new MillraceError('MODULE_NOT_LOADED', {
    what: `${file} exports no configuration.`,
    action: 'Write `export const config: MillraceConfig = { streams: { … }, kafka: { … } }` beside the default export.',
  })
}

/** Whether it is there; whether it is right is checked where every configuration is. */
function isConfigured(module: unknown): module is { readonly config: MillraceConfig } {
  if (typeof module !== 'object' || module === null || !('config' in module)) return false
  const { config } = module
  return typeof config === 'object' && config !== null && 'streams' in config && 'kafka' in config
}
