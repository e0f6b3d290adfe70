/** A number that is taken back with a record or a transaction. */
export class UndoneNumber {
  value: number
  #saved: number
  #committed: number

  constructor(initial: number) {
    this.value = initial
    this.#saved = initial
    this.#committed = initial
  }

  endRecord(): void {
    this.#saved = this.value
  }

  rollbackRecord(): void {
    this.value = this.#saved
  }

  commit(): void {
    this.#saved = this.value
    this.#committed = this.value
  }

  abort(): void {
    this.value = this.#committed
    this.#saved = this.#committed
  }
}
