import { right } from './cycle-right.ts'

export const left = (depth: number): number => (depth > 0 ? right(depth - 1) : 0)
