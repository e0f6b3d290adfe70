import { nearestName } from '../model/nearest-name.ts'
import { JsonFields } from '../serdes/json-fields.ts'
import type { Compiled, Evaluate } from './compiled.ts'
import { EvaluationError, ExpressionError } from './expression-error.ts'
import { textOf, type Node } from './parse.ts'
import { isFields, mayBe, typeNameOf, type KnownValue } from './static-type.ts'

/** `a.name`. Own fields only; `askedFor` are the fields that the expression asks for with `has()` before. */
export function compileField(left: Compiled, name: string, node: Node, askedFor: ReadonlySet<string>): Compiled {
  if (left.optional === true) return compileOptionalField(left, name, node)
  if (left.type === 'headers') return compileHeader(name, node, false)
  if (left.type === 'window') return compileWindowBound(name, node)
  requireFields(left, node)
  const known = askedFor.has(name) ? undefined : knownField(left, name, node)
  const inner = left.evaluate
  return {
    type: known?.type ?? 'dyn',
    fields: known?.fields,
    hint: known?.hint,
    evaluate: scope => {
      const owner = inner(scope)
      const value = fieldOf(owner, name)
      if (value === undefined) throw noField(owner, name, node)
      return value
    },
  }
}

/** `a.?name`, which is null where `a` is null or has no such field. */
export function compileOptionalField(left: Compiled, name: string, node: Node): Compiled {
  if (left.type === 'headers') return compileHeader(name, node, true)
  if (left.type === 'window') return compileWindowBound(name, node)
  requireFields(left, node)
  const inner = left.evaluate
  return { type: 'dyn', optional: true, evaluate: scope => fieldOf(inner(scope), name) ?? null }
}

function requireFields({ type, hint }: Compiled, { start, end }: Node): void {
  if (mayBe(type, 'map', 'null')) return
  throw new ExpressionError(`a ${type} has no fields`, { start, end }, hint)
}

/** What is known of a field; an object whose fields are all known must have it. */
function knownField({ fields, hint }: Compiled, name: string, { start, end }: Node): KnownValue | undefined {
  if (fields === undefined) return undefined
  const field = fields.get(name)
  if (field !== undefined) return field
  const names = [...fields.keys()]
  const nearest = nearestName(name, names)
  const all = `${hint === undefined ? '' : `${hint}, `}with the fields ${names.join(', ') || '(none)'}`
  throw new ExpressionError(
    `there is no field "${name}"`,
    { start, end },
    nearest === undefined ? all : `did you mean "${nearest}"? (${all})`,
  )
}

/** `a[index]` of a list, `a["name"]` of an object, and their `[?…]` forms. */
export function compileIndex(left: Compiled, index: Compiled, node: Node, optional: boolean): Compiled {
  if (left.type === 'headers') {
    const headerName = index.evaluate
    return {
      type: 'dyn',
      evaluate: scope => headerOf(scope.record.headers.getString(String(headerName(scope))), node, optional),
    }
  }
  if (!mayBe(left.type, 'map', 'list', 'null') || !mayBe(index.type, 'number', 'string')) {
    const { start, end } = node
    throw new ExpressionError(`a ${left.type} cannot be indexed by ${index.type}`, { start, end }, left.hint)
  }
  const [owner, at] = [left.evaluate, index.evaluate]
  const lenient = optional || left.optional === true
  const evaluate: Evaluate = scope => {
    const whole = owner(scope)
    const position = at(scope)
    const value = Array.isArray(whole) ? itemOf(whole, position) : fieldOf(whole, position)
    if (value !== undefined) return value
    if (lenient) return null
    throw Array.isArray(whole)
      ? new EvaluationError(textOf(node), `the list has ${String(whole.length)} items, no item ${String(position)}`)
      : noField(whole, String(position), node)
  }
  return { type: 'dyn', evaluate, optional: lenient }
}

/** The own field of an object; `undefined` where there is none, and for anything that is no object. */
export function fieldOf(owner: unknown, name: unknown): unknown {
  if (typeof name !== 'string') return undefined
  if (owner instanceof JsonFields) return owner.field(name)
  if (!isFields(owner)) return undefined
  return Object.hasOwn(owner, name) ? owner[name] : undefined
}

function itemOf(list: readonly unknown[], position: unknown): unknown {
  const index = typeof position === 'bigint' ? Number(position) : position
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 ? list[index] : undefined
}

function compileHeader(name: string, node: Node, optional: boolean): Compiled {
  return {
    type: 'dyn',
    optional,
    evaluate: scope => headerOf(scope.record.headers.getString(name), node, optional),
  }
}

function headerOf(text: string | null | undefined, node: Node, optional: boolean): string | null {
  if (text !== undefined) return text
  if (optional) return null
  throw new EvaluationError(textOf(node), 'the record has no such header (write headers.?name where it may be missing)')
}

function compileWindowBound(name: string, node: Node): Compiled {
  if (name !== 'start' && name !== 'end') {
    throw new ExpressionError(`a window has "start" and "end", not "${name}"`, { start: node.start, end: node.end })
  }
  return {
    type: 'number',
    evaluate: scope => {
      if (scope.window === undefined) throw new EvaluationError(textOf(node), 'the key has no window')
      return scope.window[name]
    },
  }
}

function noField(owner: unknown, name: string, node: Node): EvaluationError {
  const what =
    typeNameOf(owner) === 'map' ? `there is no field "${name}"` : `${typeNameOf(owner)} has no field "${name}"`
  return new EvaluationError(textOf(node), `${what} (write .?${name} where it may be missing)`)
}
