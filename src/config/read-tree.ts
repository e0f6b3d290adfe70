import { readFileSync } from 'node:fs'
import { MillraceError, reasonOf } from '../model/errors.ts'
import { mergeNodes, type ConfigNode } from './config-node.ts'
import type { InterpolationSources } from './interpolation.ts'
import type { LoadOptions } from './load-application.ts'
import { overrideNode } from './override.ts'
import type { ProblemList } from './problems.ts'
import { sourceFile } from './source-file.ts'
import { parseYaml } from './yaml-tree.ts'

/**
 * Reads YAML files as one tree, merged left to right, with all references resolved. Mistakes are noted; `undefined` when the
 * files say nothing.
 *
 * @throws MillraceError `CONFIG_INVALID` for a file that cannot be read
 */
export function readTree(
  files: readonly string[],
  { overrides = [], environment = process.env }: LoadOptions,
  problems: ProblemList,
): ConfigNode | undefined {
  const sources: InterpolationSources = { environment, readFile: path => readFileSync(path, 'utf8') }
  let merged: ConfigNode | undefined
  for (const file of files) {
    const node = parseYaml(sourceFile(file, textOf(file)), sources, problems)
    if (node !== undefined) merged = merged === undefined ? node : mergeNodes(merged, node)
  }
  for (const override of overrides) {
    const node = overrideNode(override, problems)
    if (node !== undefined) merged = merged === undefined ? node : mergeNodes(merged, node)
  }
  return merged
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new MillraceError('CONFIG_INVALID', {
      cause,
      what: `${file} cannot be read: ${reasonOf(cause)}`,
      action: 'Name the YAML file of the application.',
    })
  }
}
