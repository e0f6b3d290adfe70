import { BYTES_MUTATIONS } from './bytes-mutations.ts'
import { CACHE_MUTATIONS } from './cache-mutations.ts'
import { ENGINE_MUTATIONS } from './engine-mutations.ts'
import { JSON_MUTATIONS } from './json-mutations.ts'
import { KAFKA_MUTATIONS } from './kafka-mutations.ts'
import type { Mutation } from './mutation.ts'
import { OPERATOR_MUTATIONS } from './operator-mutations.ts'
import { PRODUCER_MUTATIONS } from './producer-mutations.ts'
import { STORE_MUTATIONS } from './store-mutations.ts'
import { TASK_MUTATIONS } from './task-mutations.ts'
import { TRANSACTION_MUTATIONS } from './transaction-mutations.ts'

/** Every seeded bug, with the tests that must find it. */
export const MUTATIONS: readonly Mutation[] = [
  ...TASK_MUTATIONS,
  ...ENGINE_MUTATIONS,
  ...KAFKA_MUTATIONS,
  ...PRODUCER_MUTATIONS,
  ...TRANSACTION_MUTATIONS,
  ...OPERATOR_MUTATIONS,
  ...CACHE_MUTATIONS,
  ...STORE_MUTATIONS,
  ...BYTES_MUTATIONS,
  ...JSON_MUTATIONS,
]
