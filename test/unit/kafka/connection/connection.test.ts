import { expect } from 'chai'
import { systemClock } from '../../../../src/engine/system-clock.ts'
import { Connection, type ConnectionOptions } from '../../../../src/kafka/connection/connection.ts'
import { encodeRequestBody, encodeResponseBody } from '../../../../src/kafka/protocol/api.ts'
import type { MillraceError } from '../../../../src/model/errors.ts'
import { eventually } from '../../../support/condition.ts'
import { apiVersionsAnswer, frameOf, FrameServer, offering, type Answering } from '../../../support/frame-server.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { rejectionOf } from '../../../support/rejection.ts'

const HEARTBEAT = { groupId: 'g', generationId: 1, memberId: 'm' }

function heartbeatAnswer(errorCode: number): { throttleTimeMs: number; errorCode: number } {
  return { throttleTimeMs: 0, errorCode }
}

describe('Connection', () => {
  let server: FrameServer
  const opened: Connection[] = []

  afterEach(async () => {
    for (const connection of opened.splice(0)) connection.destroy(new Error('test over'))
    await server.close()
  })

  function optionsFor(overrides: Partial<ConnectionOptions> = {}): ConnectionOptions {
    return {
      host: '127.0.0.1',
      port: server.port,
      clientId: 'unit',
      security: { protocol: 'PLAINTEXT' },
      connectTimeoutMs: 5_000,
      requestTimeoutMs: 30_000,
      clock: systemClock,
      ...overrides,
    }
  }

  async function open(
    answering: Answering = offering(),
    overrides: Partial<ConnectionOptions> = {},
  ): Promise<Connection> {
    server = await FrameServer.listen(answering)
    const connection = await Connection.open(optionsFor(overrides))
    opened.push(connection)
    return connection
  }

  it('answers calls in their order, with the best version both sides know', async () => {
    const connection = await open()
    const answers = Promise.all([0, 27, 22].map(() => connection.send('Heartbeat', HEARTBEAT)))
    await server.request(2)
    for (const [index, request] of server.requests.entries()) {
      request.answer('Heartbeat', heartbeatAnswer([0, 27, 22][index] ?? -1))
    }
    expect((await answers).map(({ errorCode }) => errorCode)).to.deep.equal([0, 27, 22])
    expect(server.requests.map(({ version, clientId }) => [version, clientId])).to.deep.equal([
      [4, 'unit'],
      [4, 'unit'],
      [4, 'unit'],
    ])
    const ids = server.requests.map(({ correlationId }) => correlationId)
    expect(ids).to.deep.equal(ids.toSorted((a, b) => a - b))
  })

  it('writes a body of several buffers as one request', async () => {
    const connection = await open()
    const body = encodeRequestBody('Heartbeat', 4, HEARTBEAT)
    const answer = connection.sendRaw('Heartbeat', 4, [body.subarray(0, 2), body.subarray(2, 5), body.subarray(5)])
    const request = await server.request(0)
    expect(request.body('Heartbeat').memberId).to.equal('m')
    request.answer('Heartbeat', heartbeatAnswer(16))
    expect((await answer).toString('hex')).to.equal(
      encodeResponseBody('Heartbeat', 4, heartbeatAnswer(16)).toString('hex'),
    )
  })

  it('takes a response that arrives byte by byte', async () => {
    const connection = await open()
    const answer = connection.send('Heartbeat', HEARTBEAT)
    const request = await server.request(0)
    const header = Buffer.alloc(5)
    header.writeInt32BE(request.correlationId, 0)
    const frame = frameOf(Buffer.concat([header, encodeResponseBody('Heartbeat', 4, heartbeatAnswer(27))]))
    for (const byte of frame) request.socket.write(Buffer.from([byte]))
    expect((await answer).errorCode).to.equal(27)
  })

  it('ends when an answer carries another correlation id than the one due', async () => {
    const connection = await open()
    const first = rejectionOf(connection.send('Heartbeat', HEARTBEAT))
    const second = rejectionOf(connection.send('Heartbeat', HEARTBEAT))
    const request = await server.request(1)
    request.answer('Heartbeat', heartbeatAnswer(0))
    expect((await first).code).to.equal('PROTOCOL_VIOLATION')
    expect((await second).code).to.equal('PROTOCOL_VIOLATION')
    expect(connection.closed).to.equal(true)
  })

  it('ends when a body cannot be decoded', async () => {
    const connection = await open()
    const answer = rejectionOf(connection.send('Heartbeat', HEARTBEAT))
    ;(await server.request(0)).answerRaw(Buffer.from([1]))
    expect((await answer).code).to.equal('PROTOCOL_VIOLATION')
    expect(connection.closed).to.equal(true)
  })

  it('rejects every waiting request when the broker goes', async () => {
    const connection = await open()
    await answerOne(connection)
    const waiting = Promise.all([1, 2, 3].map(() => rejectionOf(connection.send('Heartbeat', HEARTBEAT))))
    await server.request(3)
    server.cut()
    expect((await waiting).map(({ code }) => code)).to.deep.equal(Array(3).fill('CONNECTION_LOST'))
    expect((await rejectionOf(connection.send('Heartbeat', HEARTBEAT))).code).to.equal('CONNECTION_LOST')
  })

  it('times a request out by its own deadline, and is never used again', async () => {
    const clock = new ManualClock()
    const connection = await open(offering(), { clock })
    const late = rejectionOf(connection.send('Heartbeat', HEARTBEAT, { timeoutMs: 500 }))
    const behind = rejectionOf(connection.send('Heartbeat', HEARTBEAT))
    await server.request(1)
    await clock.advance(500)
    const error = await late
    expect(error.code).to.equal('REQUEST_TIMED_OUT')
    expect(error.message).to.match(/did not answer Heartbeat within 500 ms/)
    expect((await behind).code).to.equal('CONNECTION_LOST')
    expect(connection.closed).to.equal(true)
    expect(clock.timers).to.equal(0)
  })

  it('lets an answer that already lies in the socket be read after a stall, before it judges', async () => {
    let answered = false
    const clock = new (class extends ManualClock {
      override async yieldToIo(): Promise<void> {
        server.requests[0]?.answer('Heartbeat', heartbeatAnswer(0))
        await eventually('the answer is read', () => answered)
      }
    })()
    const connection = await open(offering(), { clock })
    const answer = connection.send('Heartbeat', HEARTBEAT, { timeoutMs: 500 }).finally(() => {
      answered = true
    })
    await server.request(0)
    await clock.advance(60_000)
    expect((await answer).errorCode).to.equal(0)
    expect(connection.closed).to.equal(false)
  })

  it('keeps no timer after the answers came', async () => {
    const clock = new ManualClock()
    const connection = await open(offering(), { clock })
    await answerOne(connection)
    expect(clock.timers).to.equal(0)
  })

  it('asks for the versions again as the broker can when it does not know our question (KIP-511)', async () => {
    const asked: number[] = []
    const connection = await open(request => {
      if (request.api !== 'ApiVersions') return false
      asked.push(request.version)
      if (request.version > 2) {
        request.answer('ApiVersions', { ...apiVersionsAnswer({ ranges: { ApiVersions: [0, 2] } }), errorCode: 35 }, 0)
      } else request.answer('ApiVersions', apiVersionsAnswer({ ranges: { Metadata: [0, 9] } }))
      return true
    })
    expect(asked).to.deep.equal([4, 2])
    expect(connection.apiVersions.best('Metadata')).to.equal(9)
  })

  it('refuses a broker that is too old for exactly-once', async () => {
    const error = await rejectionOf(open(offering({ ranges: { OffsetFetch: [0, 6] } })))
    expect(error.code).to.equal('BROKER_TOO_OLD')
    expect(error.message).to.match(/OffsetFetch version 7/)
  })

  it('never sends a request of transactions version 2 to a cluster without it', async () => {
    const connection = await open(offering({ transactionVersion: 0 }))
    const body = { transactionalId: 't', producerId: 1, producerEpoch: 0, committed: true }
    expect((await rejectionOf(connection.send('EndTxn', body, { version: 5 }))).code).to.equal('CONNECTION_LOST')
    expect(server.requests).to.deep.equal([])
    expect(connection.closed).to.equal(true)
  })

  it('leaves a broker alone for as long as it asks for, and then sends what came meanwhile, in order (KIP-219)', async () => {
    const clock = new ManualClock()
    const throttled: number[] = []
    const connection = await open(offering(), { clock, onThrottled: ms => throttled.push(ms) })
    const first = connection.send('Heartbeat', HEARTBEAT)
    ;(await server.request(0)).answer('Heartbeat', { throttleTimeMs: 2_000, errorCode: 0 })
    await first
    expect([throttled, connection.throttledMs]).to.deep.equal([[2_000], 2_000])

    const later = [1, 2].map(generationId =>
      connection.send('Heartbeat', { ...HEARTBEAT, generationId }, { timeoutMs: 500 }),
    )
    await clock.advance(1_999)
    expect(server.requests).to.have.length(1)
    await clock.advance(1)
    // The deadline of a request begins where the pause ends.
    await server.request(2)
    expect(server.requests.slice(1).map(request => request.body('Heartbeat').generationId)).to.deep.equal([1, 2])
    for (const request of server.requests.slice(1)) request.answer('Heartbeat', heartbeatAnswer(0))
    await Promise.all(later)
    expect(connection.throttledMs).to.equal(0)
  })

  it('is silent for half a minute at most, whatever a broker asks for', async () => {
    const clock = new ManualClock()
    const connection = await open(offering(), { clock })
    connection.throttle(Number.MAX_SAFE_INTEGER)
    expect(connection.throttledMs).to.equal(30_000)
    const answer = connection.send('Heartbeat', HEARTBEAT)
    await clock.advance(30_000)
    ;(await server.request(0)).answer('Heartbeat', heartbeatAnswer(0))
    expect((await answer).errorCode).to.equal(0)
  })

  it('rejects what a pause keeps back when it is destroyed, and keeps no timer', async () => {
    const clock = new ManualClock()
    const connection = await open(offering(), { clock })
    connection.throttle(5_000)
    const lost = rejectionOf(connection.send('Heartbeat', HEARTBEAT))
    connection.destroy(new Error('over'))
    expect((await lost).code).to.equal('CONNECTION_LOST')
    expect(clock.timers).to.equal(0)
  })

  it('tells how long it has been idle, and 0 while an answer is due', async () => {
    const clock = new ManualClock()
    const connection = await open(offering(), { clock })
    await clock.advance(700)
    expect(connection.idleMs).to.equal(700)
    const answer = connection.send('Heartbeat', HEARTBEAT)
    await clock.advance(100)
    expect(connection.idleMs).to.equal(0)
    ;(await server.request(0)).answer('Heartbeat', heartbeatAnswer(0))
    await answer
    expect(connection.idleMs).to.equal(0)
  })

  describe('explains why it cannot be opened', () => {
    it('where nobody listens', async () => {
      server = await FrameServer.listen()
      const options = optionsFor()
      await server.close()
      const error = await rejectionOf(Connection.open(options))
      server = await FrameServer.listen()
      expect(error.code).to.equal('CONNECTION_LOST')
      expect(error.message).to.match(/No connection to 127\.0\.0\.1:\d+: connect ECONNREFUSED/)
    })

    it('where the listener hangs up without a word', async () => {
      const error = await rejectionOf(
        open(({ socket }) => {
          socket.destroy()
          return true
        }),
      )
      expect(error.code).to.equal('CONNECTION_LOST')
      expect(error.message).to.match(/may want TLS or SASL authentication \(security\.protocol is PLAINTEXT\)/)
    })

    it('where the listener speaks TLS', async () => {
      const error = await rejectionOf(
        open(({ socket }) => {
          socket.write(Buffer.from('15030300020250', 'hex'))
          return true
        }),
      )
      expect(error.code).to.equal('BROKER_UNREACHABLE')
      expect(error.action).to.match(/SSL or SASL_SSL/)
    })

    it('where a plain listener is asked for TLS', async () => {
      const error: MillraceError = await rejectionOf(open(offering(), { security: { protocol: 'SSL' } }))
      expect(error.code).to.equal('CONNECTION_LOST')
      expect(error.message).to.match(/the listener may not speak TLS/)
    })

    it('where the broker accepts and never answers', async () => {
      const clock = new ManualClock()
      const opening = rejectionOf(open(() => true, { clock, connectTimeoutMs: 2_000 }))
      await eventually('the question waits', () => clock.timers === 1 && server.accepted === 1)
      await clock.advance(2_000)
      expect((await opening).code).to.equal('REQUEST_TIMED_OUT')
    })

    it('where PEM texts are none', async () => {
      const error = await rejectionOf(
        open(offering(), { security: { protocol: 'SSL', ssl: { ca: 'x', cert: 'no', key: 'no' } } }),
      )
      expect(error.code).to.equal('CONFIG_INVALID')
    })
  })

  async function answerOne(connection: Connection): Promise<void> {
    const index = server.requests.length
    const answer = connection.send('Heartbeat', HEARTBEAT)
    ;(await server.request(index)).answer('Heartbeat', heartbeatAnswer(0))
    await answer
  }
})
