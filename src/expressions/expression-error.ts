/** A place inside an expression: offsets into its text. */
export interface SourceSpan {
  readonly start: number
  readonly end: number
}

/** An expression that cannot be compiled; `span` says where inside its text. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
  readonly span: SourceSpan
  /** A known name or a remedy, such as `did you mean "value"?`. */
  readonly hint: string | undefined

  constructor(message: string, span: SourceSpan, hint?: string) {
    super(message)
    this.span = span
    this.hint = hint
  }
}

/** An expression that failed on a record; the message quotes the part that failed. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError'
  /** Whether `||`, `&&` and the quantifiers may pass over it when the other side decides; a spent budget may not. */
  readonly absorbable: boolean

  constructor(part: string, message: string, absorbable = true) {
    super(`${shortened(part)}: ${message}`)
    this.absorbable = absorbable
  }
}

const PART_CHARACTERS_MAX = 120

function shortened(part: string): string {
  return part.length > PART_CHARACTERS_MAX ? `${part.slice(0, PART_CHARACTERS_MAX)}…` : part
}
