import { expect } from 'chai'
import { connect } from 'node:net'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { HttpServer } from '../../../src/ops/http-server.ts'
import { ServiceMetrics } from '../../../src/ops/metrics.ts'
import { ServiceHealth, type ObservedService } from '../../../src/ops/service-health.ts'
import type { StreamsState } from '../../../src/engine/streams-state.ts'
import type { ThreadSnapshot } from '../../../src/engine/thread-metrics.ts'
import { aThreadSnapshot } from '../../support/thread-snapshot.ts'

describe('HTTP server', () => {
  let server: HttpServer
  let state: StreamsState = 'running'
  let threads: readonly ThreadSnapshot[] = []

  const service: ObservedService = {
    get state() {
      return state
    },
    get threads() {
      return threads.map(snapshot => ({
        name: snapshot.thread,
        state: snapshot.state,
        turnAgeMs: () => snapshot.turnAgeMs,
      }))
    },
    snapshots: () => Promise.resolve(threads.filter(snapshot => snapshot.turnAgeMs < 1_000)),
  }

  beforeEach(async () => {
    state = 'running'
    threads = [aThreadSnapshot({ tasks: [{ id: '0_0', state: 'running', restoreRemaining: 0 }] })]
    const metrics = new ServiceMetrics(
      { version: '1.2.3', applicationId: 'totals', guarantee: 'exactly_once_v2' },
      () => Promise.resolve(threads),
    )
    server = await HttpServer.listen({
      host: '127.0.0.1',
      port: 0,
      health: new ServiceHealth(service),
      metrics: () => metrics.text(),
      info: () => ({ version: '1.2.3' }),
      logger: SILENT_LOGGER,
    })
  })

  afterEach(async () => {
    await server.close()
  })

  const ask = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${String(server.port)}${path}`, init)

  it('is live and ready while every task runs', async () => {
    expect((await ask('/livez')).status).to.equal(200)
    expect((await ask('/readyz')).status).to.equal(200)
  })

  it('is live but not ready during a rebalance', async () => {
    state = 'rebalancing'
    threads = [aThreadSnapshot({ state: 'rebalancing' })]
    expect((await ask('/livez')).status).to.equal(200)
    expect((await ask('/readyz')).status).to.equal(503)
  })

  it('lists each task with its restore progress while it is not ready', async () => {
    threads = [aThreadSnapshot({ tasks: [{ id: '1_2', state: 'restoring', restoreRemaining: 41 }] })]
    const answer = await ask('/readyz')
    expect(answer.status).to.equal(503)
    expect(await answer.json()).to.have.deep.property('tasks', [
      { id: '1_2', thread: '1', state: 'restoring', restoreRemaining: 41 },
    ])
  })

  it('is not live when a loop has stopped turning', async () => {
    threads = [aThreadSnapshot({ turnAgeMs: 120_000 })]
    expect((await ask('/livez')).status).to.equal(503)
  })

  it('is not ready when a thread does not answer', async () => {
    threads = [aThreadSnapshot(), aThreadSnapshot({ thread: '2', turnAgeMs: 5_000 })]
    expect((await ask('/livez')).status).to.equal(200)
    expect((await ask('/readyz')).status).to.equal(503)
  })

  it('stays started once it has been ready', async () => {
    state = 'rebalancing'
    expect((await ask('/startupz')).status).to.equal(503)
    state = 'running'
    expect((await ask('/startupz')).status).to.equal(200)
    state = 'rebalancing'
    expect((await ask('/startupz')).status).to.equal(200)
  })

  it('serves the metrics of threads and of Node in one text', async () => {
    const answer = await ask('/metrics')
    const text = await answer.text()
    expect(answer.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/)
    expect(text).to.include('millrace_info{version="1.2.3",application_id="totals",guarantee="exactly_once_v2"} 1')
    expect(text).to.include('millrace_tasks{thread="1",state="running"} 1')
    expect(text).to.include('nodejs_eventloop_lag_seconds')
    expect(text.endsWith('\n')).to.equal(true)
  })

  it('answers GET and HEAD only, and no other path', async () => {
    expect((await ask('/info', { method: 'POST', body: '{}' })).status).to.equal(405)
    expect((await ask('/info', { method: 'DELETE' })).status).to.equal(405)
    expect(await (await ask('/info', { method: 'HEAD' })).text()).to.equal('')
    expect((await ask('/../etc/passwd')).status).to.equal(404)
    expect((await ask('//metrics')).status).to.equal(404)
  })

  it('lets no other origin read it', async () => {
    const { headers } = await ask('/info', { headers: { Origin: 'https://example.org' } })
    expect([...headers.keys()].filter(name => name.startsWith('access-control'))).to.deep.equal([])
    expect(headers.get('cache-control')).to.equal('no-store')
  })

  it('ends a connection that sends more than 64 KiB', async () => {
    const ended = await new Promise<boolean>(resolve => {
      const socket = connect(server.port, '127.0.0.1', () => {
        socket.write('POST /info HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n')
        socket.write(Buffer.alloc(200_000))
      })
      socket.on('error', () => undefined)
      socket.on('close', () => {
        resolve(true)
      })
      socket.resume()
    })
    expect(ended).to.equal(true)
  })

  it('says which address it could not have', async () => {
    const failure = await HttpServer.listen({
      host: '127.0.0.1',
      port: server.port,
      health: new ServiceHealth(service),
      metrics: () => Promise.resolve(''),
      info: () => ({}),
      logger: SILENT_LOGGER,
    }).catch((error: unknown) => error)
    expect(failure).to.have.property('code', 'CONFIG_CONFLICT')
    expect(failure)
      .to.have.property('message')
      .that.includes(`127.0.0.1:${String(server.port)}`)
  })
})
