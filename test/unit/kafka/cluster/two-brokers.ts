import { expect } from 'chai'
import type { ResponseBodies } from '../../../../src/kafka/protocol/api.ts'
import { FrameServer, offering, type OfferedVersions, type ReceivedRequest } from '../../../support/frame-server.ts'
import { metadataAnswer, topicAnswer } from './metadata-answers.ts'

/** Two brokers that tell each other's address, and whatever topics and coordinators a test sets. */
export class TwoBrokers {
  readonly brokers: FrameServer[] = []
  topics: ResponseBodies['Metadata']['topics'] = []
  metadataRequests: (readonly (string | null)[])[] = []
  /** Node id, or error code as a negative number, that each FindCoordinator is answered with; the last one stays. */
  coordinators = [1]
  findRequests = 0
  offered: OfferedVersions = { transactionVersion: 2 }
  /** Answers of Heartbeat by node; one per request, the last one stays. 'cut' hangs up. */
  heartbeats: Record<number, (number | 'cut')[]> = {}
  readonly heartbeatsSeen: number[] = []
  /** Answers what the brokers themselves do not; false leaves it to the test. */
  otherwise: (nodeId: number, request: ReceivedRequest) => boolean = () => false

  async start(): Promise<void> {
    for (const nodeId of [1, 2]) {
      this.brokers.push(await FrameServer.listen(request => this.#answer(nodeId, request)))
    }
  }

  addressOf(nodeId: number): { nodeId: number; host: string; port: number } {
    const server = this.brokers[nodeId - 1]
    if (server === undefined) throw new Error(`no broker ${String(nodeId)}`)
    return { nodeId, host: '127.0.0.1', port: server.port }
  }

  #answer(nodeId: number, request: ReceivedRequest): boolean {
    if (offering(this.offered)(request)) return true
    if (request.api === 'Metadata') {
      const { topics } = request.body('Metadata')
      const names = (topics ?? []).map(({ name }) => name)
      this.metadataRequests.push(names)
      const known = names.map(
        name => this.topics.find(topic => topic.name === name) ?? topicAnswer(name ?? '', [], { errorCode: 3 }),
      )
      request.answer('Metadata', metadataAnswer({ brokers: [1, 2].map(id => this.addressOf(id)), topics: known }))
    } else if (request.api === 'FindCoordinator') {
      this.findRequests += 1
      this.#answerFind(request)
    } else if (request.api === 'Heartbeat') {
      this.heartbeatsSeen.push(nodeId)
      const answers = this.heartbeats[nodeId] ?? [0]
      const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? 0
      if (answer === 'cut') request.socket.destroy()
      else request.answer('Heartbeat', { throttleTimeMs: 0, errorCode: answer })
    } else return this.otherwise(nodeId, request)
    return true
  }

  #answerFind(request: ReceivedRequest): void {
    const next = (this.coordinators.length > 1 ? this.coordinators.shift() : this.coordinators[0]) ?? 1
    const { coordinatorKeys, key } = request.body('FindCoordinator')
    const found =
      next < 0
        ? { errorCode: -next, nodeId: -1, host: '', port: -1, errorMessage: null }
        : { errorCode: 0, errorMessage: null, ...this.addressOf(next) }
    const none = { errorCode: 0, errorMessage: null, nodeId: 0, host: '', port: 0 }
    if (request.version < 4) {
      expect(key).to.equal('t')
      request.answer('FindCoordinator', { throttleTimeMs: 0, ...found, coordinators: [] })
      return
    }
    const coordinators = coordinatorKeys.map(each => ({ key: each, ...found }))
    request.answer('FindCoordinator', { throttleTimeMs: 0, ...none, coordinators })
  }

  async stop(): Promise<void> {
    await Promise.all(this.brokers.map(broker => broker.close()))
  }
}
