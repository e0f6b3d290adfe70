// Order lines with the present price of their product, as a table: a change of either side is a change of the result.
import { json, type MillraceConfig, streams, string } from 'millrace'

export const config: MillraceConfig = {
  streams: { 'application.id': 'foreign-key-join' },
  kafka: { 'bootstrap.servers': process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? '127.0.0.1:9092' },
}

interface Line {
  readonly productId: string | null
  readonly quantity: number
}

interface Product {
  readonly name: string
  readonly cents: number
}

interface PricedLine {
  readonly product: string
  readonly quantity: number
  readonly cents: number
}

export default streams(builder => {
  const lines = builder.table('order-lines', { key: string, value: json<Line>() })
  const products = builder.table('products', { key: string, value: json<Product>() })

  lines
    .foreignKeyJoin(
      products,
      line => line.productId,
      (line, product) => ({
        product: product.name,
        quantity: line.quantity,
        cents: line.quantity * product.cents,
      }),
      { value: json<PricedLine>(), name: 'priced' },
    )
    .toStream()
    .to('priced-lines')
})
