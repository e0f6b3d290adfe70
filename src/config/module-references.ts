import type { GraphConfig, OperatorConfig, SerdeSpec } from './application-config.ts'
import { modulesOf, type ExpressionSpec, type ModuleReference } from './expression-spec.ts'

/** Every module an application refers to. */
export function moduleReferences({ sources, steps, sinks }: GraphConfig): readonly ModuleReference[] {
  return [
    ...[...sources.values()].flatMap(({ key, value, timestamp }) => [
      ...ofSerdes(key, value),
      ...ofExpressions(timestamp),
    ]),
    ...[...steps.values()].flatMap(({ key, value, groupBy, operator }) => [
      ...ofSerdes(key, value),
      ...ofExpressions(groupBy, ...expressionsOf(operator)),
      ...(operator.kind === 'process' || operator.kind === 'processValues' ? [operator.reference] : []),
    ]),
    ...[...sinks.values()].flatMap(({ key, value, topic, partition }) => [
      ...ofSerdes(key, value),
      ...ofExpressions(partition, typeof topic === 'string' ? undefined : topic),
    ]),
  ]
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

function ofExpressions(...specs: readonly (ExpressionSpec | undefined)[]): readonly ModuleReference[] {
  return specs.flatMap(spec => (spec === undefined ? [] : modulesOf(spec)))
}

function ofSerdes(...specs: readonly (SerdeSpec | undefined)[]): readonly ModuleReference[] {
  return specs.flatMap(spec => (spec?.kind === 'module' ? [spec.reference] : []))
}
