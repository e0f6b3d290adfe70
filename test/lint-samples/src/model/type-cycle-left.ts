import type { Right } from './type-cycle-right.ts'

export interface Left {
  readonly right: Right | undefined
}
