import { Environment, ParseError, type ASTNode } from '@marcbachmann/cel-js'
import { reasonOf } from '../model/errors.ts'
import { ExpressionError } from './expression-error.ts'

/** Longer texts are programs, not expressions: they belong into a module. */
export const EXPRESSION_CHARACTERS_MAX = 8_192

/** A node of a parsed expression. */
export type Node = ASTNode

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: { maxAstNodes: 2_000, maxDepth: 100, maxListElements: 500, maxMapEntries: 500, maxCallArguments: 16 },
})

/**
 * The syntax tree of a CEL text.
 *
 * @throws ExpressionError with the place of the first syntax error
 */
export function parseExpression(source: string): Node {
  if (source.trim() === '') throw new ExpressionError('the expression is empty', { start: 0, end: source.length })
  if (source.length > EXPRESSION_CHARACTERS_MAX) {
    throw new ExpressionError(`the expression is longer than ${String(EXPRESSION_CHARACTERS_MAX)} characters`, {
      start: 0,
      end: 1,
    })
  }
  try {
    return environment.parse(source).ast
  } catch (error) {
    if (error instanceof ParseError) {
      const start = error.range?.start ?? 0
      const span = { start, end: Math.max(start + 1, error.range?.end ?? 0) }
      throw new ExpressionError(lowerFirst(error.summary), span, insteadOf(source, start))
    }
    // The parser recurses; a text such as ten thousand `!` ends it by a stack overflow.
    throw new ExpressionError(`the expression cannot be parsed: ${reasonOf(error)}`, { start: 0, end: source.length })
  }
}

/** The text of a node, for messages. */
export function textOf(node: Node): string {
  return node.input.slice(node.start, node.end)
}

/** Operators of other languages: how many characters behind their beginning the parser stops, and what to write instead. */
const FOREIGN_OPERATORS: readonly (readonly [pattern: RegExp, stopsBehind: number, instead: string])[] = [
  [/^[=!]==/, 2, 'values are compared with == and !='],
  [/^=/, 0, 'values are compared with =='],
  [/^<>/, 1, 'values are compared with !='],
  [/^&/, 0, '"and" is written &&'],
  [/^\|/, 0, '"or" is written ||'],
  [/^and\b/i, 0, '"and" is written &&'],
  [/^or\b/i, 0, '"or" is written ||'],
  [/^not\s/i, 4, '"not" is written !'],
  [/^\?\?/, 1, 'write has(a.b) ? a.b : other'],
  [/^\?\./, 1, 'write a.?b where a or b may be missing'],
]

/** What to write instead of an operator that CEL does not have. */
function insteadOf(source: string, stop: number): string | undefined {
  return FOREIGN_OPERATORS.find(([pattern, behind]) => stop >= behind && pattern.test(source.slice(stop - behind)))?.[2]
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
