import { randomBytes } from 'node:crypto'

/** Names of one run, used by no other, so that it can run on any Kafka. */
export interface DemoNames {
  readonly applicationId: string
  readonly orders: string
  readonly totals: string
  readonly deadLetters: string
  readonly changelog: string
  readonly repartition: string
  readonly producer: string
}

/** Names with a random part. */
export function demoNames(): DemoNames {
  const run = randomBytes(3).toString('hex')
  const applicationId = `demo-${run}-order-totals`
  return {
    applicationId,
    orders: `demo-${run}-orders`,
    totals: `demo-${run}-totals`,
    deadLetters: `demo-${run}-dead-letters`,
    changelog: `${applicationId}-totals-changelog`,
    repartition: `${applicationId}-totals-repartition`,
    producer: `demo-${run}-producer`,
  }
}
