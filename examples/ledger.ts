// Balances of accounts: each transfer books two entries, both in one transaction, so the sum of all balances stays zero.
import { json, long, type MillraceConfig, streams, string } from 'millrace'

export const config: MillraceConfig = {
  streams: { 'application.id': 'ledger' },
  kafka: { 'bootstrap.servers': process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? '127.0.0.1:9092' },
}

interface Transfer {
  readonly from: string
  readonly to: string
  readonly cents: number
}

export default streams(builder => {
  const balances = builder
    .stream('transfers', { key: string, value: json<Transfer>() })
    .flatMap(({ from, to, cents }) => [
      [from, -cents],
      [to, cents],
    ])
    .groupByKey({ key: string, value: long, name: 'entries' })
    .reduce((balance, amount) => balance + amount, { store: 'balances' })

  balances.toStream().to('balances')
  balances
    .filter(balance => balance < 0)
    .toStream()
    .to('overdrawn') // an account back above zero is deleted here
})
