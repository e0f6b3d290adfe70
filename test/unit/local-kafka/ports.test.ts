import { expect } from 'chai'
import { createServer } from 'node:net'
import { freePorts, requireFreePort } from '../../../src/local-kafka/ports.ts'
import { MillraceError } from '../../../src/model/errors.ts'

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

  it('that somebody has chosen are refused when they are taken, with what to do', async () => {
    const server = createServer()
    await new Promise<void>(resolve => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const refusal: unknown = await requireFreePort(port).catch((error: unknown) => error)
    await new Promise(resolve => {
      server.close(resolve)
    })
    expect(refusal).to.be.instanceOf(MillraceError)
    expect(refusal).to.include({
      code: 'LOCAL_KAFKA_UNAVAILABLE',
      action: 'Choose another port, or end what listens there.',
    })
    expect(String(refusal)).to.contain(`Port ${String(port)} of 127.0.0.1 is taken`)
    expect(await requireFreePort(port)).to.equal(undefined)
  })
})
