// A pattern no window expresses: an order that was paid but not shipped within two hours.
import { json, keyValueStore, long, type MillraceConfig, processor, streams, string } from 'millrace'

export const config: MillraceConfig = {
  streams: { 'application.id': 'stuck-orders' },
  kafka: { 'bootstrap.servers': process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? '127.0.0.1:9092' },
}

interface OrderEvent {
  readonly type: 'paid' | 'shipped' | 'cancelled'
}

interface StuckOrder {
  readonly paidAt: number
  readonly noticedAt: number
}

const PATIENCE_MS = 2 * 60 * 60 * 1000
const events = { key: string, value: json<OrderEvent>() }

/** Remembers when each order was paid and looks once a minute (of event time) for those that wait too long. */
export const watchShipping = processor({
  name: 'watch-shipping',
  input: events,
  stores: { waiting: keyValueStore('waiting', { key: string, value: long }) },
  value: json<StuckOrder>(),
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

export default streams(builder => {
  builder.stream('order-events', events).process(watchShipping).to('stuck-orders')
})
