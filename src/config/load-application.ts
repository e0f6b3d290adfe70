import { InvariantError } from '../model/assert.ts'
import { MillraceError } from '../model/errors.ts'
import type { SerdePair } from '../topology/parts.ts'
import type { Topology } from '../topology/topology.ts'
import type { GraphConfig, TestConfig } from './application-config.ts'
import type { CompileText } from '../expressions/expression.ts'
import type { ConfigNode } from './config-node.ts'
import { ExpressionCompiler } from './expression-compiler.ts'
import { freezeDeep } from './freeze.ts'
import { buildGraph } from './graph-builder.ts'
import type { MillraceConfig } from './millrace-config.ts'
import { hasExpressions, moduleReferences } from './graph-expressions.ts'
import { loadModules } from './modules.ts'
import { warnUnused } from './name-resolution.ts'
import { problemLine, ProblemList } from './problems.ts'
import { readApplication } from './read-application.ts'

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
  /** The files as one tree, references resolved: a worker builds the same application of it, whatever the files say by then. */
  readonly root: ConfigNode
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
  // The YAML library takes longer to load than a file to be read: only who reads one loads it.
  const { readTree } = await import('./read-tree.ts')
  const root = readTree(files, options, problems)
  // A file that is no YAML says nothing about the rest: what follows would be noise.
  problems.throwIfUnreadable()
  if (root === undefined) problems.throwIfAny()
  if (root === undefined) throw new MillraceError('CONFIG_INVALID', { what: `${files.join(', ')} says nothing.` })
  return buildApplication(root, problems)
}

/**
 * Builds an application from the tree of its files.
 *
 * @param problems - what was noted of the files
 * @throws MillraceError with every mistake and its place
 */
export async function buildApplication(root: ConfigNode, problems = new ProblemList()): Promise<LoadedYaml> {
  const application = readApplication(root, problems)
  if (application === undefined) {
    problems.throwIfAny()
    throw new MillraceError('CONFIG_INVALID', { what: 'The configuration says nothing.' })
  }
  const { config, graph, tests } = application
  const modules = await loadModules(moduleReferences(graph), problems)
  const built = buildGraph(
    graph,
    { compiler: new ExpressionCompiler({ modules, problems, compileText: await textCompiler(graph) }), problems },
    config.streams['application.id'],
  )
  warnUnused(graph, problems)
  problems.throwIfAny()
  if (built === undefined) throw new MillraceError('INTERNAL', { what: 'A graph without mistakes was not built.' })
  return {
    root,
    config: freezeDeep(config),
    tests: freezeDeep(tests),
    ...built,
    warnings: problems.warnings.map(problemLine),
  }
}

/** Loading a parser of expressions takes a good part of a start, so it is done where there are any. */
async function textCompiler(graph: GraphConfig): Promise<CompileText> {
  if (!hasExpressions(graph)) {
    return source => {
      throw new InvariantError(`"${source}" is among the expressions of the graph`)
    }
  }
  const { compileExpression } = await import('../expressions/compile-expression.ts')
  return compileExpression
}
