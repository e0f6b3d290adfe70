/** A text that configuration is read from; plain data, so that a tree with its places can be posted to a worker. */
export interface SourceFile {
  /** As shown in messages: the path given, or `--set`. */
  readonly name: string
  readonly text: string
  /** Whether messages may show its lines. */
  readonly isShown: boolean
}

/** A stretch of a source file. */
export interface Place {
  readonly file: SourceFile
  readonly start: number
  readonly end: number
}

const lineStarts = new WeakMap<SourceFile, readonly number[]>()

/** Makes the source file of a text. */
export function sourceFile(name: string, text: string, lines: 'shown' | 'concealed' = 'shown'): SourceFile {
  // A configuration object has no lines to show.
  return { name, text, isShown: lines === 'shown' && text !== '' }
}

/** Line and column of an offset, both from 1. */
export function positionOf(file: SourceFile, offset: number): { readonly line: number; readonly column: number } {
  const starts = lineStartsOf(file)
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
}

/** The text of a line, without its end. */
export function lineText(file: SourceFile, line: number): string {
  const start = lineStartsOf(file)[line - 1] ?? 0
  const end = file.text.indexOf('\n', start)
  return file.text.slice(start, end < 0 ? file.text.length : end).replace(/\r$/, '')
}

/** `file:line:column`. */
export function positionText({ file, start }: Place): string {
  const { line, column } = positionOf(file, start)
  return `${file.name}:${String(line)}:${String(column)}`
}

function lineStartsOf(file: SourceFile): readonly number[] {
  const known = lineStarts.get(file)
  if (known !== undefined) return known
  const { text } = file
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  lineStarts.set(file, starts)
  return starts
}
