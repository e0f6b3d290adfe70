// Each order with its customer's name, if the customer is known by then.
import { json, type MillraceConfig, streams, string } from 'millrace'

export const config: MillraceConfig = {
  streams: { 'application.id': 'enriched-orders' },
  kafka: { 'bootstrap.servers': process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? '127.0.0.1:9092' },
}

interface Order {
  readonly customerId: string
  readonly cents: number
}

interface Customer {
  readonly name: string
  readonly country: string
}

interface EnrichedOrder extends Order {
  readonly customer: string | null
}

export default streams(builder => {
  const customers = builder.table('customers', { key: string, value: json<Customer>(), store: 'customers' })

  builder
    .stream('orders', { key: string, value: json<Order>() })
    .selectKey(order => order.customerId)
    .leftJoin(customers, (order, customer) => ({ ...order, customer: customer?.name ?? null }), {
      key: string,
      name: 'orders-by-customer',
    })
    .to('enriched-orders', { value: json<EnrichedOrder>() })
})
