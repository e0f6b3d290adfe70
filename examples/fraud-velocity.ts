// Raises an alert when a card pays more than 5 times or more than 1,000.00 within any 10 minutes.
import { json, type MillraceConfig, streams, string } from 'millrace'

export const config: MillraceConfig = {
  streams: { 'application.id': 'fraud-velocity' },
  kafka: { 'bootstrap.servers': process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? '127.0.0.1:9092' },
}

interface Payment {
  readonly card: string
  readonly cents: number
  readonly at: number
}

interface Velocity {
  readonly payments: number
  readonly cents: number
}

interface Alert extends Velocity {
  readonly card: string
  readonly from: number
  readonly to: number
}

export default streams(builder => {
  builder
    .stream('payments', { key: string, value: json<Payment>(), timestamp: payment => payment.at })
    .groupBy(payment => payment.card, { key: string })
    .windowedBy({ sliding: '10m', grace: '30s' })
    .aggregate(
      () => ({ payments: 0, cents: 0 }),
      (velocity, payment) => ({ payments: velocity.payments + 1, cents: velocity.cents + payment.cents }),
      { store: 'velocity', value: json<Velocity>() },
    )
    .filter(velocity => velocity.payments > 5 || velocity.cents > 100_000)
    .toStream()
    .filter(velocity => velocity !== null) // a window that fell below the limit again
    .map((velocity, { key, start, end }) => [key, { ...velocity, card: key, from: start, to: end }])
    .to('card-alerts', { key: string, value: json<Alert>() })
})
