import { integerBetween } from '../../../src/cli/demo/seeded-random.ts'
import type { Random } from '../../../src/model/clock.ts'
import { CRASH_POINTS, type CrashPointName } from '../../../src/model/crash-point.ts'

/** Requests that rules of a random schedule are about. */
export type ScheduledApi =
  | 'Produce'
  | 'Fetch'
  | 'InitProducerId'
  | 'AddPartitionsToTxn'
  | 'AddOffsetsToTxn'
  | 'TxnOffsetCommit'
  | 'EndTxn'
  | 'JoinGroup'
  | 'SyncGroup'
  | 'Heartbeat'
  | 'OffsetFetch'
  | 'FindCoordinator'

/** What a rule of a random schedule does to one frame; a held frame goes on after `forMs` of its fault. */
export type ScheduledAction =
  | { readonly type: 'hold' | 'drop' | 'reset' | 'duplicate' }
  | { readonly type: 'delay'; readonly ms: number }
  | { readonly type: 'error'; readonly code: number }
  | { readonly type: 'slice'; readonly bytes: number; readonly gapMs: number }
  | { readonly type: 'throttle'; readonly bytesPerSecond: number }

/** One fault of a random schedule, as data: a seed gives the same ones again. */
export type Fault =
  | {
      readonly kind: 'rule'
      readonly instance: string
      readonly api: ScheduledApi
      readonly direction: 'request' | 'response'
      readonly action: ScheduledAction
      readonly nth: number
      readonly times: number
      readonly forMs: number
    }
  /** SIGSTOP when a request comes by, which is held; SIGCONT and the request after `forMs`. */
  | { readonly kind: 'zombie'; readonly instance: string; readonly api: ScheduledApi; readonly forMs: number }
  | { readonly kind: 'kill' | 'terminate'; readonly instance: string; readonly restartAfterMs: number }
  /** The next life of an instance ends at a crash point. */
  | { readonly kind: 'crash'; readonly instance: string; readonly point: CrashPointName; readonly nth: number }
  | { readonly kind: 'pause'; readonly instance: string; readonly forMs: number }
  /** One more instance joins, and leaves again. */
  | { readonly kind: 'guest'; readonly forMs: number; readonly leaves: 'SIGTERM' | 'SIGKILL' }
  /** All connections to one broker are reset, and refused for a while; 0: to all brokers. */
  | { readonly kind: 'cut'; readonly node: number; readonly forMs: number }
  | { readonly kind: 'broker'; readonly node: number; readonly signal: 'SIGTERM' | 'SIGKILL'; readonly forMs: number }
  | { readonly kind: 'brokerPause'; readonly node: number; readonly forMs: number }

/** A fault and how long to wait before it. */
export interface ScheduledFault {
  readonly afterMs: number
  readonly fault: Fault
}

/** What a schedule may draw from. */
export interface ScheduleLimits {
  readonly instances: readonly string[]
  readonly nodes: number
}

type Drawer = (random: Random, limits: ScheduleLimits) => Fault

/** Weight and maker of each kind; more of what has found faults elsewhere: single requests of a commit. */
const DRAWERS: readonly (readonly [number, Drawer])[] = [
  [40, drawRule],
  [8, drawZombie],
  [10, drawStop],
  [8, drawCrash],
  [8, drawPause],
  [6, drawGuest],
  [6, drawCut],
  [5, drawBroker],
  [3, drawBrokerPause],
]

/** An endless schedule. The same numbers from `random` give the same schedule, however long each fault takes. */
export function* faultSchedule(random: Random, limits: ScheduleLimits): Generator<ScheduledFault, never> {
  for (;;) {
    const afterMs = integerBetween(random, 100, 1_500)
    yield { afterMs, fault: drawFault(random, limits) }
  }
}

function drawFault(random: Random, limits: ScheduleLimits): Fault {
  const total = DRAWERS.reduce((sum, [weight]) => sum + weight, 0)
  let ticket = integerBetween(random, 1, total)
  for (const [weight, draw] of DRAWERS) {
    ticket -= weight
    if (ticket <= 0) return draw(random, limits)
  }
  throw new Error('a ticket is among the weights')
}

/** Codes that a broker may give in its place: it did nothing. */
const REFUSALS: Readonly<Partial<Record<ScheduledApi, readonly number[]>>> = {
  Produce: [5, 6, 7, 14, 19, 47, 51, 120],
  InitProducerId: [14, 15, 16, 51],
  AddPartitionsToTxn: [14, 15, 16, 47, 51, 120],
  AddOffsetsToTxn: [14, 15, 16, 51],
  TxnOffsetCommit: [14, 15, 16, 22, 25, 47, 51, 120],
  EndTxn: [14, 15, 16, 51],
  JoinGroup: [14, 15, 16],
  SyncGroup: [15, 16, 22, 27],
  Heartbeat: [15, 16, 22, 25, 27],
  FindCoordinator: [15],
}

/** Codes that a broker may give although it did, or will do, what was asked: its log answered too late. */
const DENIALS: Readonly<Partial<Record<ScheduledApi, readonly number[]>>> = {
  Produce: [7, 13, 20],
  InitProducerId: [15, 51],
  AddPartitionsToTxn: [15, 51],
  AddOffsetsToTxn: [15, 51],
  TxnOffsetCommit: [7, 15],
  EndTxn: [15, 51],
}

const APIS: readonly ScheduledApi[] = [
  'Produce',
  'Produce',
  'Fetch',
  'InitProducerId',
  'AddPartitionsToTxn',
  'AddPartitionsToTxn',
  'AddOffsetsToTxn',
  'TxnOffsetCommit',
  'TxnOffsetCommit',
  'TxnOffsetCommit',
  'EndTxn',
  'EndTxn',
  'EndTxn',
  'EndTxn',
  'JoinGroup',
  'SyncGroup',
  'Heartbeat',
  'OffsetFetch',
  'FindCoordinator',
]
const HOLD_MS = [300, 2_000, 6_500, 9_000] as const

function drawRule(random: Random, { instances }: ScheduleLimits): Fault {
  const instance = pick(random, instances)
  const api = pick(random, APIS)
  const direction = pick(random, ['request', 'response'] as const)
  const nth = integerBetween(random, 1, 4)
  const forMs = pick(random, HOLD_MS)
  const times = integerBetween(random, 1, 3)
  const rule = { kind: 'rule', instance, api, direction, nth, forMs } as const
  const type = pick(random, ['hold', 'hold', 'drop', 'reset', 'reset', 'delay', 'error', 'error', 'pieces', 'twice'])
  switch (type) {
    case 'hold':
    case 'drop':
    case 'reset':
      return { ...rule, action: { type }, times: 1 }
    case 'delay':
      return { ...rule, action: { type, ms: integerBetween(random, 50, 1_500) }, times }
    case 'error': {
      const codes = (direction === 'request' ? REFUSALS : DENIALS)[api]
      // What has no code to give is reset instead.
      if (codes === undefined) return { ...rule, action: { type: 'reset' }, times: 1 }
      return { ...rule, action: { type, code: pick(random, codes) }, times }
    }
    case 'pieces':
      return random() < 0.5
        ? { ...rule, action: { type: 'slice', bytes: integerBetween(random, 3, 80), gapMs: 2 }, times }
        : { ...rule, action: { type: 'throttle', bytesPerSecond: integerBetween(random, 500, 5_000) }, times }
    default:
      return { ...rule, direction: 'request', action: { type: 'duplicate' }, times }
  }
}

function drawZombie(random: Random, { instances }: ScheduleLimits): Fault {
  const api = pick(random, ['Produce', 'TxnOffsetCommit', 'EndTxn', 'AddPartitionsToTxn', 'JoinGroup'] as const)
  return { kind: 'zombie', instance: pick(random, instances), api, forMs: pick(random, [1_500, 5_000, 9_000]) }
}

function drawStop(random: Random, { instances }: ScheduleLimits): Fault {
  const kind = random() < 0.7 ? 'kill' : 'terminate'
  return { kind, instance: pick(random, instances), restartAfterMs: pick(random, [0, 500, 3_000, 9_000]) }
}

function drawCrash(random: Random, { instances }: ScheduleLimits): Fault {
  const point = pick(random, CRASH_POINTS)
  return { kind: 'crash', instance: pick(random, instances), point, nth: integerBetween(random, 1, 10) }
}

function drawPause(random: Random, { instances }: ScheduleLimits): Fault {
  return { kind: 'pause', instance: pick(random, instances), forMs: pick(random, [500, 4_000, 6_000, 9_000]) }
}

function drawGuest(random: Random): Fault {
  const leaves = pick(random, ['SIGTERM', 'SIGKILL'] as const)
  return { kind: 'guest', forMs: integerBetween(random, 2_000, 8_000), leaves }
}

function drawCut(random: Random, { nodes }: ScheduleLimits): Fault {
  return { kind: 'cut', node: integerBetween(random, 0, nodes), forMs: integerBetween(random, 200, 6_000) }
}

/** The only node is paused instead: one that begins anew may skip markers (Kafka 4.4), which makes the run void. */
function drawBroker(random: Random, limits: ScheduleLimits): Fault {
  const { nodes } = limits
  if (nodes === 1) return drawBrokerPause(random, limits)
  const signal = pick(random, ['SIGTERM', 'SIGKILL'] as const)
  return { kind: 'broker', node: integerBetween(random, 1, nodes), signal, forMs: integerBetween(random, 0, 4_000) }
}

function drawBrokerPause(random: Random, { nodes }: ScheduleLimits): Fault {
  // A single broker that is paused past its own session is without a leader for a moment, and Kafka 4.4 forgets the
  // markers of transactions that end then (docs/correctness.md).
  const forMs = integerBetween(random, 500, nodes === 1 ? 1_500 : 4_000)
  return { kind: 'brokerPause', node: integerBetween(random, 1, nodes), forMs }
}

function pick<T>(random: Random, from: readonly T[]): T {
  const picked = from[Math.floor(random() * from.length)]
  if (picked === undefined) throw new Error('nothing to pick from')
  return picked
}
