/** A doc comment and the declaration after it, as text. */
export interface Declaration {
  readonly name: string
  readonly doc: string
  /** The head of the declaration, without a body. */
  readonly signature: string
  /** Documented members of an interface or class, in order. */
  readonly members: readonly Declaration[]
}

const TOP = /^export (?:declare )?(?:interface|class|type|function|const) (\w+)/
const BODY = /^export (?:interface|class)\b/
/** Members that have a name of their own: not `[symbol]`, not `#private`, not the constructor's parameters. */
const MEMBER = /^(?:(?:readonly|static|async|get) )*(?!(?:readonly|static|async|get) )(\w+)/

/** Reads the documented exports of a TypeScript source that prettier has formatted: no parser, only its indentation. */
export function declarationsOf(source: string): readonly Declaration[] {
  return documented(source, '').flatMap(({ doc, lines }) => {
    const name = TOP.exec(lines[0] ?? '')?.[1]
    if (name === undefined) return []
    const hasMembers = BODY.test(lines[0] ?? '')
    const members = hasMembers ? membersOf(lines) : []
    const head = hasMembers ? lines.slice(0, lines.findIndex(line => line.endsWith('{')) + 1) : lines
    return [{ name, doc, signature: headOf(head, hasMembers), members }]
  })
}

function membersOf(lines: readonly string[]): readonly Declaration[] {
  const inner = lines.slice(lines.findIndex(line => line.endsWith('{')) + 1)
  return documented(inner.join('\n'), '  ').flatMap(({ doc, lines: member }) => {
    const name = MEMBER.exec(member[0]?.trim() ?? '')?.[1]
    if (name === undefined) return []
    return [{ name, doc, signature: headOf(member, false), members: [] }]
  })
}

/** Doc comments at one depth of indentation, each with the lines of the declaration that follows. */
function documented(source: string, indent: string): { readonly doc: string; readonly lines: readonly string[] }[] {
  const lines = source.split('\n')
  const found: { doc: string; lines: string[] }[] = []
  for (let at = 0; at < lines.length; at++) {
    if (!(lines[at] ?? '').startsWith(`${indent}/**`)) continue
    const start = at
    while (!(lines[at] ?? '').trimEnd().endsWith('*/')) at++
    const doc = lines.slice(start, at + 1).join('\n')
    const end = endOf(lines, at + 1, indent)
    found.push({ doc: plain(doc), lines: lines.slice(at + 1, end) })
    at = end - 1
  }
  return found
}

/** Where a declaration ends: before the first line of its own depth that does not close something. */
function endOf(lines: readonly string[], start: number, indent: string): number {
  const isInside = (line: string): boolean =>
    line === '' || (line.startsWith(indent) && /^[ )}\]>|&]/.test(line.slice(indent.length)))
  let end = start + 1
  while (end < lines.length && isInside(lines[end] ?? '')) end++
  while (lines[end - 1] === '') end--
  return end
}

/** A signature without the body of a function or the value of a constant, and without the indentation of its class. */
function headOf(lines: readonly string[], isBlock: boolean): string {
  const depth = /^ */.exec(lines[0] ?? '')?.[0].length ?? 0
  const text = lines.map(one => one.slice(depth)).join('\n')
  if (isBlock) return text.replace(/\s*\{$/, '')
  const first = lines[0]?.trim() ?? ''
  if (first.startsWith('export const ')) return text.replace(/ = [\s\S]*$/, '')
  return isTyped(first) ? text : text.replace(/ \{\n[\s\S]*$/, '')
}

/** Whether braces in a declaration are part of a type rather than the body of a function. */
function isTyped(first: string): boolean {
  return first.startsWith('export type ') || /^(?:readonly )?\w+\??: /.test(first)
}

function plain(doc: string): string {
  return doc
    .replace(/^\s*\/\*\*\s?/, '')
    .replace(/\s*\*\/\s*$/, '')
    .split('\n')
    .map(one => one.replace(/^\s*\*\s?/, '').trimEnd())
    .join('\n')
    .trim()
}
