export { TestDriver } from './test-driver.ts'
export type { TestDriverOptions } from './test-driver.ts'
export type { TestInput, TestOutput, TestRecord, TestSerdes } from './test-topics.ts'
