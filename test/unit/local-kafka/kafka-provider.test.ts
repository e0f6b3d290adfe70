import { expect } from 'chai'
import { provideKafka } from '../../../src/local-kafka/kafka-provider.ts'

describe('kafka provider', () => {
  it('takes KAFKA_BOOTSTRAP_SERVERS before anything else and starts nothing', async () => {
    const kafka = await provideKafka({ nodes: 3 }, { KAFKA_BOOTSTRAP_SERVERS: 'kafka-1:9092,kafka-2:9092' })
    expect(kafka).to.include({ bootstrapServers: 'kafka-1:9092,kafka-2:9092', source: 'given', nodes: 0 })
    await kafka.stop()
  })
})
