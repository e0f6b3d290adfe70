import { readFileSync } from 'node:fs'
import { MillraceError, reasonOf } from '../model/errors.ts'
import type { SerdePair } from '../topology/parts.ts'
import type { Topology } from '../topology/topology.ts'
import type { TestConfig } from './application-config.ts'
import { mergeNodes, type ConfigNode } from './config-node.ts'
import { ExpressionCompiler } from './expression-compiler.ts'
import { freezeDeep } from './freeze.ts'
import { buildGraph } from './graph-builder.ts'
import type { InterpolationSources } from './interpolation.ts'
import type { MillraceConfig } from './millrace-config.ts'
import { moduleReferences } from './module-references.ts'
import { loadModules } from './modules.ts'
import { warnUnused } from './name-resolution.ts'
import { overrideNode } from './override.ts'
import { problemLine, ProblemList } from './problems.ts'
import { readApplication } from './read-application.ts'
import { SourceFile } from './source-file.ts'
import { parseYaml } from './yaml-tree.ts'

/** Where configuration comes from beside its files. */
export interface LoadOptions {
  /** `path=value`, such as `streams.num.stream.threads=2`; they win over the files. */
  readonly overrides?: readonly string[]
  /** @default the process's */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/** Serdes of the topics an application reads and writes, as far as they are known. */
export type TopicSerdes = ReadonlyMap<string, SerdePair>

/** An application as its YAML files say. */
export interface LoadedYaml {
  readonly config: MillraceConfig
  readonly topology: Topology
  /** What `millrace test` runs. */
  readonly tests: readonly TestConfig[]
  readonly topicSerdes: TopicSerdes
  /** What is odd but no mistake, one line each, with its place. */
  readonly warnings: readonly string[]
}

/**
 * Loads an application: files merged left to right, references resolved, everything checked, modules imported, the graph
 * built.
 *
 * @throws MillraceError with every mistake and its place; `problemsOf` gives them one by one
 */
export async function loadApplication(files: readonly string[], options: LoadOptions = {}): Promise<LoadedYaml> {
  const problems = new ProblemList()
  const root = readTree(files, options, problems)
  // A file that is no YAML says nothing about the rest: what follows would be noise.
  problems.throwIfAny()
  if (root === undefined) throw new MillraceError('CONFIG_INVALID', { what: `${files.join(', ')} says nothing.` })
  const application = readApplication(root, problems)
  if (application === undefined) {
    problems.throwIfAny()
    throw new MillraceError('CONFIG_INVALID', { what: `${files.join(', ')} says nothing.` })
  }
  const { config, graph, tests } = application
  const modules = await loadModules(moduleReferences(graph), problems)
  const built = buildGraph(
    graph,
    { compiler: new ExpressionCompiler(modules, problems), problems },
    config.streams['application.id'],
  )
  warnUnused(graph, problems)
  problems.throwIfAny()
  if (built === undefined) throw new MillraceError('INTERNAL', { what: 'A graph without mistakes was not built.' })
  return {
    config: freezeDeep(config),
    tests: freezeDeep(tests),
    ...built,
    warnings: problems.warnings.map(problemLine),
  }
}

function readTree(
  files: readonly string[],
  { overrides = [], environment = process.env }: LoadOptions,
  problems: ProblemList,
): ConfigNode | undefined {
  const sources: InterpolationSources = { environment, readFile: path => readFileSync(path, 'utf8') }
  let merged: ConfigNode | undefined
  for (const file of files) {
    const node = parseYaml(new SourceFile(file, textOf(file)), sources, problems)
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
