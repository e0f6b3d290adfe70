import { expect } from 'chai'
import { createServer } from 'node:net'
import { freePorts } from '../../../src/local-kafka/ports.ts'

describe('free ports', () => {
  it('are different, can be bound, and lie below the range of outgoing connections', async () => {
    const ports = await freePorts(6)
    expect(new Set(ports).size).to.equal(6)
    for (const port of ports) {
      expect(port).to.be.within(20_000, 32_000)
      await new Promise<void>((resolve, reject) => {
        const server = createServer()
        server.once('error', reject)
        server.listen(port, '127.0.0.1', () => {
          server.close(() => {
            resolve()
          })
        })
      })
    }
  })
})
