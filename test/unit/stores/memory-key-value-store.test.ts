import { MemoryKeyValueStore } from '../../../src/stores/memory-key-value-store.ts'
import { describeKeyValueContract } from './key-value-contract.ts'

describeKeyValueContract(
  'memory',
  ({ value, changelog, maxBytes }) => new MemoryKeyValueStore({ name: 's', value, changelog, maxBytes }),
)
