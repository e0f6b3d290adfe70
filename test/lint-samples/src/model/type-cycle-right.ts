import type { Left } from './type-cycle-left.ts'

export interface Right {
  readonly left: Left | undefined
}
