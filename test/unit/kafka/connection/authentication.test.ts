import { expect } from 'chai'
import { Connection } from '../../../../src/kafka/connection/connection.ts'
import type { SecurityOptions } from '../../../../src/kafka/connection/security-options.ts'
import type { Clock } from '../../../../src/model/clock.ts'
import { systemClock } from '../../../../src/engine/system-clock.ts'
import { eventually } from '../../../support/condition.ts'
import { FrameServer, offering, type Answering, type ReceivedRequest } from '../../../support/frame-server.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { rejectionOf } from '../../../support/rejection.ts'

const PLAIN: SecurityOptions = {
  protocol: 'SASL_PLAINTEXT',
  sasl: { mechanism: 'PLAIN', username: 'alice', password: 'pass-word' },
}
const HEARTBEAT = { groupId: 'g', generationId: 1, memberId: 'm' }

/** A broker that takes any credentials for a session of that length. */
function accepting(sessionLifetimeMs: number): Answering {
  const versions = offering()
  return request => versions(request) || authenticated(request, sessionLifetimeMs)
}

function authenticated(request: ReceivedRequest, sessionLifetimeMs: number): boolean {
  if (request.api === 'SaslHandshake') {
    request.answer('SaslHandshake', { errorCode: 0, mechanisms: ['PLAIN'] })
    return true
  }
  if (request.api !== 'SaslAuthenticate') return false
  request.answer('SaslAuthenticate', {
    errorCode: 0,
    errorMessage: null,
    authBytes: Buffer.alloc(0),
    sessionLifetimeMs,
  })
  return true
}

describe('SASL', () => {
  let server: FrameServer
  let connection: Connection | undefined

  afterEach(async () => {
    connection?.destroy(new Error('test over'))
    connection = undefined
    await server.close()
  })

  async function open(
    answering: Answering,
    {
      security = PLAIN,
      clock = systemClock,
      host = '127.0.0.1',
    }: { security?: SecurityOptions; clock?: Clock; host?: string } = {},
  ): Promise<Connection> {
    server = await FrameServer.listen(answering)
    connection = await Connection.open({
      host,
      port: server.port,
      clientId: 'unit',
      security,
      connectTimeoutMs: 5_000,
      requestTimeoutMs: 30_000,
      clock,
    })
    return connection
  }

  it('sends the credentials of PLAIN without a length before them', async () => {
    const sent: string[] = []
    await open(request => {
      if (request.api === 'SaslAuthenticate') sent.push(request.body('SaslAuthenticate').authBytes.toString('latin1'))
      return accepting(0)(request)
    })
    expect(sent).to.deep.equal(['\0alice\0pass-word'])
  })

  it('names mechanism, user and the text of the broker when it refuses, and not the password', async () => {
    const versions = offering()
    const error = await rejectionOf(
      open(request => {
        if (request.api !== 'SaslAuthenticate') return versions(request) || authenticated(request, 0)
        const errorMessage = 'Authentication failed: Invalid username or password'
        request.answer('SaslAuthenticate', {
          errorCode: 58,
          errorMessage,
          authBytes: Buffer.alloc(0),
          sessionLifetimeMs: 0,
        })
        return true
      }),
    )
    expect(error.code).to.equal('AUTHENTICATION_FAILED')
    expect(error.message).to.match(/refused PLAIN for user alice: Authentication failed: Invalid username or password/)
    expect(JSON.stringify([error.message, error.action, error.details])).not.to.contain('pass-word')
  })

  it('names the mechanisms that are offered when ours is not', async () => {
    const versions = offering()
    const error = await rejectionOf(
      open(request => {
        if (versions(request)) return true
        request.answer('SaslHandshake', { errorCode: 33, mechanisms: ['SCRAM-SHA-256', 'GSSAPI'] })
        return true
      }),
    )
    expect(error.code).to.equal('AUTHENTICATION_FAILED')
    expect(error.message).to.match(/does not offer PLAIN .* it offers: SCRAM-SHA-256, GSSAPI/)
  })

  it('refuses a SCRAM broker that does not continue our nonce', async () => {
    const versions = offering()
    const scram: SecurityOptions = {
      protocol: 'SASL_PLAINTEXT',
      sasl: { mechanism: 'SCRAM-SHA-256', username: 'alice', password: 'pass-word' },
    }
    const error = await rejectionOf(
      open(
        request => {
          if (versions(request)) return true
          if (request.api === 'SaslHandshake') return authenticated(request, 0)
          const authBytes = Buffer.from('r=forged,s=c2FsdA==,i=4096')
          request.answer('SaslAuthenticate', { errorCode: 0, errorMessage: null, authBytes, sessionLifetimeMs: 0 })
          return true
        },
        { security: scram },
      ),
    )
    expect(error.code).to.equal('AUTHENTICATION_FAILED')
    expect(error.message).to.match(/SCRAM-SHA-256 exchange with 127\.0\.0\.1:\d+ as user alice failed: .*nonce/)
  })

  it('refuses to send a readable password to another machine', async () => {
    const error = await rejectionOf(open(accepting(0), { host: 'kafka.example' }))
    expect(error.code).to.equal('CONFIG_CONFLICT')
    expect(error.message).to.match(/user alice readable over the network to kafka\.example/)
    expect(server.accepted).to.equal(0)
  })

  it('wants credentials where the protocol authenticates', async () => {
    const error = await rejectionOf(open(accepting(0), { security: { protocol: 'SASL_PLAINTEXT' } }))
    expect(error.code).to.equal('CONFIG_CONFLICT')
  })

  describe('renews a session that ends (KIP-368)', () => {
    const handshakes: ReceivedRequest[] = []

    /** Accepts the first authentication at once and leaves the second one's handshake to the test. */
    function acceptingOnce(sessionLifetimeMs: number): Answering {
      const answering = accepting(sessionLifetimeMs)
      let seen = 0
      handshakes.length = 0
      return request => {
        if (request.api === 'SaslHandshake' && ++seen > 1) {
          handshakes.push(request)
          return true
        }
        return answering(request)
      }
    }

    it('at 80 % of its life, and sends nothing between the handshake and the last answer', async () => {
      const clock = new ManualClock()
      const open1 = await open(acceptingOnce(10_000), { clock })
      await clock.advance(7_999)
      expect(handshakes.length).to.equal(0)
      await clock.advance(1)
      await eventually('the second handshake arrives', () => handshakes.length === 1)
      const held = open1.send('Heartbeat', HEARTBEAT)
      await clock.yieldToIo()
      expect(server.requests.length).to.equal(0)
      handshakes[0]?.answer('SaslHandshake', { errorCode: 0, mechanisms: ['PLAIN'] })
      ;(await server.request(0)).answer('Heartbeat', { throttleTimeMs: 0, errorCode: 0 })
      expect((await held).errorCode).to.equal(0)
      expect(clock.timers).to.equal(1)
    })

    it('after the requests in flight are answered', async () => {
      const clock = new ManualClock()
      const open1 = await open(acceptingOnce(10_000), { clock })
      const parked = open1.send('Heartbeat', HEARTBEAT)
      const request = await server.request(0)
      await clock.advance(8_500)
      await clock.yieldToIo()
      expect(handshakes.length).to.equal(0)
      request.answer('Heartbeat', { throttleTimeMs: 0, errorCode: 0 })
      await parked
      await eventually('the second handshake arrives', () => handshakes.length === 1)
      expect(open1.closed).to.equal(false)
    })

    it('by a new connection when a parked request outlasts it', async () => {
      const clock = new ManualClock()
      const open1 = await open(acceptingOnce(10_000), { clock })
      const parked = open1.send('Heartbeat', HEARTBEAT)
      const request = await server.request(0)
      await clock.advance(8_500)
      const held = rejectionOf(open1.send('Heartbeat', HEARTBEAT))
      await clock.advance(2_000)
      request.answer('Heartbeat', { throttleTimeMs: 0, errorCode: 27 })
      expect((await parked).errorCode).to.equal(27)
      expect((await held).code).to.equal('CONNECTION_LOST')
      expect(open1.closed).to.equal(true)
      expect(handshakes.length).to.equal(0)
      expect(clock.timers).to.equal(0)
    })

    it('and ends with the refusal when the credentials are no longer good', async () => {
      const clock = new ManualClock()
      const open1 = await open(acceptingOnce(10_000), { clock })
      await clock.advance(8_000)
      await eventually('the second handshake arrives', () => handshakes.length === 1)
      const held = rejectionOf(open1.send('Heartbeat', HEARTBEAT))
      handshakes[0]?.answer('SaslHandshake', { errorCode: 33, mechanisms: [] })
      expect((await held).code).to.equal('AUTHENTICATION_FAILED')
      expect(open1.closeCause?.code).to.equal('AUTHENTICATION_FAILED')
    })
  })
})
