import { left } from './cycle-left.ts'

export const right = (depth: number): number => (depth > 0 ? left(depth - 1) : 1)
