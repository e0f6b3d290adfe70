import type { sendAll } from '../engine/clean.ts'

export type SendAll = typeof sendAll
