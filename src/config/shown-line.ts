import { CONCEALED } from './secret.ts'

/** More of a line than that is no help to the eye. */
const CHARACTERS_MAX = 160
/** Of a line that is longer than this nothing is shown: it was not written by hand. */
const LINE_CHARACTERS_MAX = 4_000
/** Of a longer line, what stands before the place. */
const CHARACTERS_BEFORE = 60

/** A value that is written beside the name of a secret, or of what may be meant to be one, and is no reference: to the end of its quotes, else of the line. */
const SECRET_VALUE =
  /((?:[\w.-]{0,60}(?:pas+w\w*|passphrase|secret|token)|ssl\.key|sasl\.(?!mechanism|username)[\w.]+)["']?\s*[:=]\s*)(?!["']?\$\{)("(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^\s"'].*$)/gi
/** A line of a key in PEM. */
const KEY_MATERIAL = /^\s*[A-Za-z0-9+/]{40,}={0,2}\s*$/

/**
 * A line of a configuration as a message shows it: without secrets, and of bounded length, with a mark under the place.
 *
 * @param column - of the place, from 1
 */
export function shownLine(
  line: string,
  column: number,
  length: number,
): { readonly text: string; readonly mark: string } {
  if (line.length > LINE_CHARACTERS_MAX) return { text: `(a line of ${String(line.length)} characters)`, mark: '' }
  const whole = KEY_MATERIAL.test(line) ? CONCEALED : line.replaceAll(SECRET_VALUE, conceal)
  const from = whole.length > CHARACTERS_MAX ? Math.max(0, column - 1 - CHARACTERS_BEFORE) : 0
  const cut = whole.slice(from, from + CHARACTERS_MAX)
  const [before, after] = [from > 0 ? '…' : '', from + CHARACTERS_MAX < whole.length ? '…' : '']
  const at = column - 1 - from
  // Tabs stay tabs, so that the mark stands under the place whatever their width is.
  const indent = `${before}${cut.slice(0, at)}`.replaceAll(/[^\t]/g, ' ')
  const marks = Math.max(1, Math.min(length, cut.length - at))
  return { text: `${before}${cut}${after}`, mark: `${indent}${'^'.repeat(marks)}` }
}

/** As long as it was, so that marks behind it stay in their place. */
function conceal(_: string, name: string, value: string): string {
  return `${name}${CONCEALED.padEnd(value.length)}`
}
