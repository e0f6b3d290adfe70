import { dirname, isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { nearestName } from '../model/nearest-name.ts'
import { reasonOf } from '../model/errors.ts'
import type { ModuleReference } from './expression-spec.ts'
import type { ProblemList } from './problems.ts'

/** What the modules of an application export, loaded before its graph is built. */
export class LoadedModules {
  readonly #exports: ReadonlyMap<string, unknown>

  constructor(exports: ReadonlyMap<string, unknown>) {
    this.#exports = exports
  }

  /** The exported value; `undefined` when it could not be loaded, which has been noted then. */
  get(reference: ModuleReference): unknown {
    return this.#exports.get(`${urlOf(reference)}#${reference.exportName}`)
  }
}

/** Imports every module referred to; what cannot be loaded is noted at its place. */
export async function loadModules(
  references: readonly ModuleReference[],
  problems: ProblemList,
): Promise<LoadedModules> {
  const exports = new Map<string, unknown>()
  for (const reference of references) {
    const url = urlOf(reference)
    const key = `${url}#${reference.exportName}`
    if (exports.has(key)) continue
    const value = exportOf(reference, await importModule(url, reference, problems), problems)
    if (value !== undefined) exports.set(key, value)
  }
  return new LoadedModules(exports)
}

/** Paths are relative to the file they are written in. */
function urlOf({ path, place }: ModuleReference): string {
  return pathToFileURL(isAbsolute(path) ? path : resolve(dirname(place.file.name), path)).href
}

async function importModule(
  url: string,
  { path, place }: ModuleReference,
  problems: ProblemList,
): Promise<object | undefined> {
  try {
    const module: unknown = await import(url)
    return typeof module === 'object' && module !== null ? module : undefined
  } catch (error) {
    const hint = /\.[cm]?ts$/.test(path) ? 'TypeScript modules need Node 22.18 or later' : undefined
    problems.add(place, `the module ${path} cannot be imported: ${reasonOf(error)}`, hint, 'MODULE_NOT_LOADED')
    return undefined
  }
}

function exportOf(
  { path, exportName, place }: ModuleReference,
  module: object | undefined,
  problems: ProblemList,
): unknown {
  if (module === undefined) return undefined
  if (Object.hasOwn(module, exportName)) return Reflect.get(module, exportName)
  const names = Object.keys(module)
  const nearest = nearestName(exportName, names)
  problems.add(
    place,
    `the module ${path} exports no "${exportName}"`,
    nearest === undefined
      ? `it exports: ${names.length === 0 ? 'nothing' : names.join(', ')}`
      : `did you mean "${nearest}"?`,
    'MODULE_NOT_LOADED',
  )
  return undefined
}
