/** A text that configuration is read from, with its lines. */
export class SourceFile {
  /** As shown in messages: the path given, or `--set`. */
  readonly name: string
  readonly text: string
  /** Whether messages may show its lines. */
  readonly isShown: boolean
  readonly #lineStarts: readonly number[]

  constructor(name: string, text: string, lines: 'shown' | 'concealed' = 'shown') {
    this.name = name
    this.text = text
    // A configuration object has no lines to show.
    this.isShown = lines === 'shown' && text !== ''
    const starts = [0]
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
    this.#lineStarts = starts
  }

  /** Line and column of an offset, both from 1. */
  positionOf(offset: number): { readonly line: number; readonly column: number } {
    let low = 0
    let high = this.#lineStarts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (this.#lineStarts[low] ?? 0) + 1 }
  }

  /** The text of a line, without its end. */
  lineText(line: number): string {
    const start = this.#lineStarts[line - 1] ?? 0
    const end = this.text.indexOf('\n', start)
    return this.text.slice(start, end < 0 ? this.text.length : end).replace(/\r$/, '')
  }
}

/** A stretch of a source file. */
export interface Place {
  readonly file: SourceFile
  readonly start: number
  readonly end: number
}

/** `file:line:column`. */
export function positionText({ file, start }: Place): string {
  const { line, column } = file.positionOf(start)
  return `${file.name}:${String(line)}:${String(column)}`
}
