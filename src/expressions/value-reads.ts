import type { Node } from './parse.ts'

/** Of an expression that does not read the value. */
export const NO_FIELDS: ReadonlySet<string> = new Set()

/** The fields of the record's value that an expression reads; `undefined` when it may read all of the value. */
export function valueReads(node: Node): ReadonlySet<string> | undefined {
  const fields = new Set<string>()
  return collect(node, fields) ? fields : undefined
}

/** The fields that all parts of an expression read together. */
export function allValueReads(parts: readonly (ReadonlySet<string> | undefined)[]): ReadonlySet<string> | undefined {
  const all = new Set<string>()
  for (const part of parts) {
    if (part === undefined) return undefined
    for (const name of part) all.add(name)
  }
  return all
}

/** Collects the fields below a part of the syntax tree; false when the value itself is there. */
function collect(part: unknown, fields: Set<string>): boolean {
  if (Array.isArray(part)) return part.every(each => collect(each, fields))
  if (!isNode(part)) return true
  const field = fieldOfValue(part)
  if (field === undefined) return part.op === 'id' ? part.args !== 'value' : collect(part.args, fields)
  fields.add(field)
  return true
}

/** The name in `value.name`, `value.?name` and `value["name"]`; `undefined` for all else. */
export function fieldOfValue(node: Node): string | undefined {
  if (node.op === '.' || node.op === '.?') return isValue(node.args[0]) ? node.args[1] : undefined
  if (node.op !== '[]' && node.op !== '[?]') return undefined
  const [owner, index] = node.args
  return isValue(owner) && index.op === 'value' && typeof index.args === 'string' ? index.args : undefined
}

function isValue(node: Node): boolean {
  return node.op === 'id' && node.args === 'value'
}

function isNode(part: unknown): part is Node {
  return typeof part === 'object' && part !== null && 'op' in part
}
