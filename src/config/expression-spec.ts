import { plainValue, type ConfigNode, type ScalarNode } from './config-node.ts'
import { isBroken, kindText } from './fields.ts'
import type { ProblemList } from './problems.ts'
import type { Place } from './source-file.ts'

/** A user's function in a module: `./steps/score.js#isBig`. */
export interface ModuleReference {
  /** As written; relative to the file it stands in. */
  readonly path: string
  readonly exportName: string
  readonly place: Place
}

/** What stands in an expression position. */
export type ExpressionSpec =
  | { readonly kind: 'expression'; readonly source: string; readonly node: ScalarNode }
  | { readonly kind: 'literal'; readonly value: unknown; readonly place: Place }
  | { readonly kind: 'template'; readonly members: ReadonlyMap<string, ExpressionSpec>; readonly place: Place }
  | { readonly kind: 'list'; readonly items: readonly ExpressionSpec[]; readonly place: Place }
  | { readonly kind: 'module'; readonly reference: ModuleReference; readonly place: Place }

/**
 * Reads an expression position: a text is an expression, other scalars are themselves, `{ literal }` and `{ module }` mean
 * what they say, other maps and lists are templates. Nothing at all is a mistake.
 */
export function readExpression(node: ConfigNode, problems: ProblemList): ExpressionSpec | undefined {
  if (isBroken(node)) return undefined
  const { place } = node
  if (node.kind === 'scalar') {
    // YAML's nothing is a null, but hardly ever a null that was meant: a group by it drops every record.
    if (node.text === '' && node.value === null) {
      problems.add(place, 'the expression is empty', 'write null where a null is meant', 'EXPRESSION_INVALID')
      return undefined
    }
    return typeof node.value === 'string'
      ? { kind: 'expression', source: node.text, node }
      : { kind: 'literal', value: node.value, place }
  }
  if (node.kind === 'list') {
    const items = node.items.map(item => readMember(item, problems))
    return { kind: 'list', items: items.filter(item => item !== undefined), place }
  }
  const [only, ...others] = node.entries
  if (only !== undefined && others.length === 0) {
    const [name, { node: member }] = only
    if (name === 'literal') return { kind: 'literal', value: plainValue(member), place }
    if (name === 'module') return readModule(member, problems)
  }
  const members = new Map<string, ExpressionSpec>()
  for (const [name, entry] of node.entries) {
    const member = readMember(entry.node, problems)
    if (member !== undefined) members.set(name, member)
  }
  return { kind: 'template', members, place }
}

/** Reads a reference to a module: `./file.js#name`. */
export function readModuleReference(node: ConfigNode, problems: ProblemList): ModuleReference | undefined {
  if (isBroken(node)) return undefined
  const match = node.kind === 'scalar' ? /^([^#]+)#([A-Za-z_$][A-Za-z0-9_$]*)$/.exec(node.text) : null
  const [path, exportName] = [match?.[1], match?.[2]]
  if (path !== undefined && exportName !== undefined) return { path, exportName, place: node.place }
  problems.add(node.place, `a module is written as ./file.js#exportedName, not ${kindText(node)}`)
  return undefined
}

/** Where an expression stands. */
export function placeOf(spec: ExpressionSpec): Place {
  return spec.kind === 'expression' ? spec.node.place : spec.place
}

/** Every reference to a module in an expression. */
export function modulesOf(spec: ExpressionSpec): readonly ModuleReference[] {
  switch (spec.kind) {
    case 'module':
      return [spec.reference]
    case 'template':
      return [...spec.members.values()].flatMap(modulesOf)
    case 'list':
      return spec.items.flatMap(modulesOf)
    case 'expression':
    case 'literal':
      return []
  }
}

/** Whether a text to be parsed is part of it. */
export function hasText(spec: ExpressionSpec): boolean {
  switch (spec.kind) {
    case 'expression':
      return true
    case 'template':
      return [...spec.members.values()].some(hasText)
    case 'list':
      return spec.items.some(hasText)
    case 'module':
    case 'literal':
      return false
  }
}

function readModule(node: ConfigNode, problems: ProblemList): ExpressionSpec | undefined {
  const reference = readModuleReference(node, problems)
  return reference === undefined ? undefined : { kind: 'module', reference, place: node.place }
}

function readMember(node: ConfigNode, problems: ProblemList): ExpressionSpec | undefined {
  const spec = readExpression(node, problems)
  if (spec?.kind !== 'module') return spec
  problems.add(spec.place, 'a module gives the whole value, it cannot stand inside a template')
  return undefined
}
