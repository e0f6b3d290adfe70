import { json, MillraceStreams, string, streams } from '../../src/index.ts'

interface Order {
  readonly customerId: string
  readonly cents: number
}

export const topology = streams(builder => {
  builder
    .stream('orders', { key: string, value: json<Order>() })
    .groupBy(order => order.customerId, { key: string })
    .aggregate(
      () => 0,
      (cents, order) => cents + order.cents,
      { store: 'totals', value: json<number>() },
    )
    .toStream()
    .to('order-totals')
})

export async function run(bootstrapServers: string): Promise<void> {
  const app = new MillraceStreams({
    topology,
    config: {
      streams: { 'application.id': 'order-totals' },
      kafka: { 'bootstrap.servers': bootstrapServers },
    },
  })
  process.once('SIGTERM', () => void app.close())
  await app.start()
  await app.closed
}
