export { labelOf } from '../engine/clean.ts'
