import type { GraphConfig, OperatorConfig, SerdeSpec } from './application-config.ts'
import { hasText, modulesOf, type ExpressionSpec, type ModuleReference } from './expression-spec.ts'

/** Every module an application refers to. */
export function moduleReferences(graph: GraphConfig): readonly ModuleReference[] {
  const { sources, steps, sinks } = graph
  return [
    ...[...sources.values(), ...steps.values(), ...sinks.values()].flatMap(({ key, value }) => ofSerdes(key, value)),
    ...[...steps.values()].flatMap(({ operator }) =>
      operator.kind === 'process' || operator.kind === 'processValues' ? [operator.reference] : [],
    ),
    ...expressionsIn(graph).flatMap(modulesOf),
  ]
}

/** Whether any of its expressions is a text that has to be parsed. */
export function hasExpressions(graph: GraphConfig): boolean {
  return expressionsIn(graph).some(hasText)
}

/** What stands in the expression positions of a graph. */
function expressionsIn({ sources, steps, sinks }: GraphConfig): readonly ExpressionSpec[] {
  const positions = [
    ...[...sources.values()].map(({ timestamp }) => timestamp),
    ...[...steps.values()].flatMap(({ groupBy, operator }) => [groupBy, ...expressionsOf(operator)]),
    ...[...sinks.values()].flatMap(({ topic, partition }) => [
      partition,
      typeof topic === 'string' ? undefined : topic,
    ]),
  ]
  return positions.filter(spec => spec !== undefined)
}

function expressionsOf(operator: OperatorConfig): readonly (ExpressionSpec | undefined)[] {
  switch (operator.kind) {
    case 'filter':
    case 'drop':
    case 'value':
    case 'key':
    case 'sum':
    case 'min':
    case 'max':
    case 'reduce':
    case 'peek':
      return [operator.expression]
    case 'dedupe':
      return [operator.id]
    case 'map':
      return [operator.key, operator.value, operator.headers, operator.timestamp]
    case 'flatMap':
      return [operator.each, operator.key, operator.value]
    case 'split':
      return [...operator.branches.values()].map(branch => (branch === 'default' ? undefined : branch))
    case 'repartition':
      return [operator.partition]
    case 'aggregate':
      return [operator.update, operator.subtract, operator.merge]
    case 'join':
      return [operator.value, operator.on]
    case 'merge':
    case 'count':
    case 'suppress':
    case 'table':
    case 'stream':
    case 'process':
    case 'processValues':
      return []
  }
}

function ofSerdes(...specs: readonly (SerdeSpec | undefined)[]): readonly ModuleReference[] {
  return specs.flatMap(spec => (spec?.kind === 'module' ? [spec.reference] : []))
}
