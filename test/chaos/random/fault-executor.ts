import type { LocalKafka } from '../../../src/local-kafka/local-kafka.ts'
import type { KafkaProxy } from '../../support/kafka-proxy.ts'
import type { Fault } from './fault-schedule.ts'
import type { MillInstance } from './mill-instance.ts'

type FaultOf<K extends Fault['kind']> = Extract<Fault, { readonly kind: K }>

/** How long a rule waits for its frame, and an armed life for its crash point. */
const CHANCE_MS = 8_000
const LOOK_MS = 50

/** What faults are done to. */
export interface FaultTargets {
  readonly kafka: LocalKafka
  readonly proxy: KafkaProxy
  readonly instances: ReadonlyMap<string, MillInstance>
  /** Makes an instance that is there for a while only. */
  readonly guest: () => MillInstance
  /** Whether the run is about to end: what waits then lets go. */
  readonly stopping: () => boolean
}

/** Does the faults of a schedule. */
export class FaultExecutor {
  readonly #targets: FaultTargets
  #brokers: Promise<unknown> = Promise.resolve()

  constructor(targets: FaultTargets) {
    this.#targets = targets
  }

  /** Does a fault and undoes it. @returns whether it really happened */
  run(fault: Fault): Promise<boolean> {
    switch (fault.kind) {
      case 'rule':
        return this.#rule(fault)
      case 'zombie':
        return this.#zombie(fault)
      case 'kill':
      case 'terminate':
        return this.#stop(fault)
      case 'crash':
        return this.#crash(fault)
      case 'pause':
        return this.#pause(fault)
      case 'guest':
        return this.#guest(fault)
      case 'cut':
        return this.#cut(fault)
      case 'broker':
        return this.#broker(fault)
      case 'brokerPause':
        return this.#brokerPause(fault)
      default:
        return fault satisfies never
    }
  }

  async #rule({ instance, api, direction, action, nth, times, forMs }: FaultOf<'rule'>): Promise<boolean> {
    let matches = 0
    const rule = this.#targets.proxy.rule({
      name: `${action.type} ${direction}`,
      api,
      direction,
      action,
      times,
      // From the nth frame on; `nth` of the rule itself would be for one frame only.
      when: ({ clientId }) => clientId?.startsWith(`${instance}-`) === true && ++matches >= nth,
    })
    await this.#until(() => rule.fired.length > 0, CHANCE_MS)
    const fired = rule.fired.length > 0
    if (fired) await this.#sleep(forMs)
    rule.remove()
    rule.release()
    return fired
  }

  async #zombie({ instance, api, forMs }: FaultOf<'zombie'>): Promise<boolean> {
    const process = this.#instance(instance).process
    if (process === undefined) return false
    const rule = this.#targets.proxy.rule({
      name: 'zombie',
      api,
      direction: 'request',
      action: [{ type: 'signal', pid: process.pid, signal: 'SIGSTOP' }, { type: 'hold' }],
      times: 1,
      when: ({ clientId }) => !process.hasExited && clientId?.startsWith(`${instance}-`) === true,
    })
    await this.#until(() => rule.fired.length > 0, CHANCE_MS)
    rule.remove()
    const fired = rule.fired.length > 0
    if (fired) await this.#sleep(forMs)
    process.signal('SIGCONT')
    rule.release()
    return fired
  }

  async #stop({ kind, instance, restartAfterMs }: FaultOf<'kill' | 'terminate'>): Promise<boolean> {
    const target = this.#instance(instance)
    return await target.alone(async () => {
      const ended = await target.end(kind === 'kill' ? 'SIGKILL' : 'SIGTERM')
      await this.#sleep(restartAfterMs)
      await target.live()
      return ended
    })
  }

  async #crash({ instance, point, nth }: FaultOf<'crash'>): Promise<boolean> {
    const target = this.#instance(instance)
    return await target.alone(async () => {
      await target.end('SIGTERM')
      const armed = await target.live({ MILLRACE_TEST_CRASH_AT: `${point}:${String(nth)}` })
      await this.#until(() => armed.hasExited, CHANCE_MS)
      const crashed = armed.hasExited
      await target.end('SIGKILL')
      await target.live()
      return crashed
    })
  }

  async #pause({ instance, forMs }: FaultOf<'pause'>): Promise<boolean> {
    const process = this.#instance(instance).process
    if (process === undefined) return false
    process.signal('SIGSTOP')
    await this.#sleep(forMs)
    process.signal('SIGCONT')
    return true
  }

  async #guest({ forMs, leaves }: FaultOf<'guest'>): Promise<boolean> {
    const guest = this.#targets.guest()
    return await guest.alone(async () => {
      await guest.live()
      await this.#sleep(forMs)
      return await guest.end(leaves)
    })
  }

  async #cut({ node, forMs }: FaultOf<'cut'>): Promise<boolean> {
    const nodeId = node === 0 ? undefined : node
    this.#targets.proxy.cut(nodeId)
    await this.#sleep(forMs)
    this.#targets.proxy.heal(nodeId)
    return true
  }

  #broker({ node, signal, forMs }: FaultOf<'broker'>): Promise<boolean> {
    return this.#oneBroker(async () => {
      const { kafka } = this.#targets
      kafka.kill(node, signal)
      await kafka.ended(node)
      await this.#sleep(forMs)
      await kafka.startNode(node)
    })
  }

  #brokerPause({ node, forMs }: FaultOf<'brokerPause'>): Promise<boolean> {
    return this.#oneBroker(async () => {
      const { kafka } = this.#targets
      kafka.kill(node, 'SIGSTOP')
      await this.#sleep(forMs)
      kafka.kill(node, 'SIGCONT')
    })
  }

  /** One broker is away at a time, or acknowledged records of a cluster could be lost by Kafka itself. */
  #oneBroker(work: () => Promise<void>): Promise<boolean> {
    const done = this.#brokers.then(work)
    this.#brokers = done.catch(() => undefined)
    return done.then(() => true)
  }

  #instance(name: string): MillInstance {
    const instance = this.#targets.instances.get(name)
    if (instance === undefined) throw new Error(`there is no instance ${name}`)
    return instance
  }

  async #until(condition: () => boolean, timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs
    while (!condition() && Date.now() < deadline && !this.#targets.stopping()) {
      await new Promise(resolve => setTimeout(resolve, LOOK_MS))
    }
  }

  async #sleep(ms: number): Promise<void> {
    await this.#until(() => false, ms)
  }
}
