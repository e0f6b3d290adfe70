import { RE2JS } from 're2js'
import { reasonOf } from '../model/errors.ts'

/** Patterns that records bring along are compiled once each, up to this many. */
const PATTERNS_MAX = 256

/** A pattern compiled for an engine that runs in linear time: no text makes it backtrack. */
export interface Pattern {
  /** Whether the pattern occurs anywhere in the text. */
  occursIn(text: string): boolean
}

const cache = new Map<string, Pattern>()

/**
 * Compiles a regular expression in RE2 syntax.
 *
 * @throws SyntaxError naming the pattern
 */
export function patternOf(source: string): Pattern {
  const known = cache.get(source)
  if (known !== undefined) return known
  const compiled = compile(source)
  if (cache.size >= PATTERNS_MAX) cache.clear()
  cache.set(source, compiled)
  return compiled
}

function compile(source: string): Pattern {
  try {
    const program = RE2JS.compile(source)
    return { occursIn: text => program.matcher(text).find() }
  } catch (error) {
    throw new SyntaxError(`"${source.slice(0, 100)}" is no regular expression of RE2: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}
