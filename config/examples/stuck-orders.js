// The processor of stuck-orders.yaml: what no window expresses.
import { json, keyValueStore, long, processor, string } from 'millrace'

const PATIENCE_MS = 2 * 60 * 60 * 1000

/** Remembers when each order was paid and looks once a minute (of event time) for those that wait too long. */
export const watchShipping = processor({
  name: 'watch-shipping',
  input: { key: string, value: json() },
  stores: { waiting: keyValueStore('waiting', { key: string, value: long }) },
  value: json(),
  init: ({ stores: { waiting }, forward, schedule }) => {
    schedule({ every: '1m', by: 'streamTime' }, now => {
      for (const [order, paidAt] of waiting.all()) {
        if (now - paidAt < PATIENCE_MS) continue
        forward({ key: order, value: { paidAt, noticedAt: now } })
        waiting.delete(order)
      }
    })
    return ({ key, value, timestamp }) => {
      if (value.type === 'paid') waiting.put(key, timestamp)
      else waiting.delete(key)
    }
  },
})
