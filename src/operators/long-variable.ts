/** A long that an operator remembers between records; set back when a record or the transaction is taken back. */
export interface LongVariable {
  value: number
}
