import { assert } from '../model/assert.ts'

/** A long that an operator or the task remembers between records. */
export class TaskVariable {
  readonly name: string
  /** The present value. */
  value: number
  readonly initial: number
  /** Value as of the record's savepoint. */
  saved: number
  /** Value as of the last commit. */
  committed: number
  /** Whether it travels in the offset metadata; others live only as long as the task. */
  readonly isKept: boolean
  /** Whether an abort goes back to its value: it was there at the last commit, or from the beginning. */
  isCommitted = false

  constructor(name: string, initial: number, isKept: boolean) {
    this.name = name
    this.value = initial
    this.initial = initial
    this.saved = initial
    this.committed = initial
    this.isKept = isKept
  }
}

/**
 * Everything a task remembers between records outside its stores, with the same two savepoints: an aborted transaction's
 * records come again, and must not find a later time than before. Kafka Streams: `ProcessorMetadata`, which is not undone.
 */
export class TaskVariables {
  readonly #byName = new Map<string, TaskVariable>()
  /** The same, to be walked at each record. */
  readonly #variables: TaskVariable[] = []
  /** Values of the last commit for variables that are declared later: when processors are made. */
  readonly #loaded = new Map<string, number>()
  /** Those dropped since the last commit, with the values they had there. */
  readonly #dropped = new Map<string, number>()

  /** Registers a variable; a value loaded before becomes its value. */
  declare(name: string, initial: number, options: { readonly kept: boolean }): TaskVariable {
    assert(!this.#byName.has(name), 'a task variable is declared once', { name })
    const variable = new TaskVariable(name, initial, options.kept)
    this.#byName.set(name, variable)
    this.#variables.push(variable)
    const loaded = this.#loaded.get(name)
    if (loaded !== undefined) setAll(variable, loaded)
    return variable
  }

  /** Forgets a variable that nobody uses any more; an abort remembers what it was. */
  drop(variable: TaskVariable): void {
    const at = this.#variables.indexOf(variable)
    if (at === -1) return
    this.#variables.splice(at, 1)
    this.#byName.delete(variable.name)
    if (variable.isCommitted) this.#dropped.set(variable.name, variable.committed)
  }

  /** Takes back that a variable was dropped. */
  putBack(variable: TaskVariable): void {
    this.#variables.push(variable)
    this.#byName.set(variable.name, variable)
    this.#dropped.delete(variable.name)
  }

  /**
   * All is declared that is declared again after an abort. What was loaded was for that only: a later variable of the same
   * name is another one.
   */
  begun(): void {
    this.#loaded.clear()
    for (const variable of this.#variables) variable.isCommitted = true
  }

  /** Values to keep with the committed offsets; those still at their initial value are left out. */
  snapshot(): ReadonlyMap<string, number> {
    const values = new Map<string, number>()
    for (const variable of this.#variables) {
      if (variable.isKept && variable.value !== variable.initial) values.set(variable.name, variable.value)
    }
    return values
  }

  /** Takes over committed values; names that nobody declared are kept for a later declaration. */
  load(values: ReadonlyMap<string, number>): void {
    for (const [name, value] of values) {
      const variable = this.#byName.get(name)
      if (variable === undefined) this.#loaded.set(name, value)
      else if (variable.isKept) setAll(variable, value)
    }
  }

  endRecord(): void {
    for (const variable of this.#variables) variable.saved = variable.value
  }

  rollbackRecord(): void {
    for (const variable of this.#variables) variable.value = variable.saved
  }

  commit(): void {
    for (const variable of this.#variables) {
      variable.saved = variable.value
      variable.committed = variable.value
      variable.isCommitted = true
    }
    this.#dropped.clear()
  }

  /** Takes all back to the last commit; what was dropped since gets its value again where it is declared again. */
  abort(): void {
    for (const variable of this.#variables) setAll(variable, variable.committed)
    for (const [name, value] of this.#dropped) this.#loaded.set(name, value)
    this.#dropped.clear()
  }
}

function setAll(variable: TaskVariable, value: number): void {
  variable.value = value
  variable.saved = value
  variable.committed = value
}
