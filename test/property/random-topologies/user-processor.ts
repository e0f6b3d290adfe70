import type { StreamRecord } from '../../../src/model/record.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import { keyValueStore } from '../../../src/stores/store-spec.ts'
import type { KeyValueStore } from '../../../src/stores/store-types.ts'
import type { ErasedProcessorContext } from '../../../src/operators/processor-context.ts'
import type { ErasedSupplier } from '../../../src/topology/processor-node.ts'
import type { Operation } from './operations.ts'
import { textOf } from './user-functions.ts'
import { nullable } from '../../../src/serdes/nullable.ts'

/** A processor that numbers the records of a key in a store, and tells the numbers of all keys from time to time. */
export function numbering(
  store: string,
  { keepsKey, every, by }: Extract<Operation, { kind: 'process' }>,
): ErasedSupplier {
  return {
    key: nullable(string),
    value: nullable(string),
    stores: { counts: keyValueStore(store, { key: string, value: long }) },
    init: ({ stores, forward, schedule, streamTime }: ErasedProcessorContext) => {
      const counts = asCounts(stores['counts'])
      if (every !== null && !keepsKey) {
        schedule({ every, by, ...(by === 'streamTime' ? { startAt: 0 } : {}) }, timestamp => {
          for (const [key, count] of counts.all()) forward({ key, value: `tick${String(count)}`, timestamp })
        })
      }
      return ({ key, value, headers }: StreamRecord<string | null, unknown>) => {
        const id = String(key)
        const count = (counts.get(id) ?? 0) + 1
        counts.put(id, count)
        forward({
          key: keepsKey ? key : `p${String(count % 2)}`,
          value: `${textOf(value)}#${String(count)}@${String(streamTime())}`,
          ...(count % 3 === 2
            ? {}
            : { headers: count % 3 === 1 ? headers.with('n', String(count)) : headers.without('h') }),
        })
      }
    },
  }
}

function asCounts(store: unknown): KeyValueStore<string, number>
function asCounts(store: unknown): unknown {
  return store
}
