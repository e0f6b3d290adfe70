import { expect } from 'chai'
import { systemClock } from '../../../src/engine/system-clock.ts'
import { sleep } from '../../../src/model/clock.ts'
import { useBroker } from '../../support/broker.ts'
import { ProducerRoom, valuesOf } from './producer-room.ts'

const TIMEOUT_MS = 60_000

describe('producer on three brokers', function () {
  this.timeout(180_000)
  const kafka = useBroker('three')
  let room: ProducerRoom

  beforeEach(async () => {
    room = await ProducerRoom.open(kafka().bootstrapServers, { replicationFactor: 3 })
  })

  afterEach(async () => {
    await room.close()
  })

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`writes each record once when a leader ends by ${signal} in the middle of a transaction (F16)`, async () => {
      const producer = await room.producer({
        transactionTimeoutMs: 60_000,
        requestTimeoutMs: 30_000,
        deliveryTimeoutMs: TIMEOUT_MS,
        batchSizeBytes: 4_096,
      })
      const values = valuesOf(4_000, 'v', 60)
      const leader = await room.leaderOf(0)
      for (const [i, value] of values.entries()) {
        room.append(producer, [value], i % 4)
        if (i % 100 !== 99) continue
        producer.pump()
        if (i === 1_999) kafka().kill(leader, signal)
        await sleep(systemClock, 5)
      }
      await room.commit(producer, [])
      await kafka().ended(leader)
      await kafka().startNode(leader)

      for (let partition = 0; partition < 4; partition += 1) {
        expect(await room.committed(partition)).to.deep.equal(values.filter((_, i) => i % 4 === partition))
      }
    })
  }
})
