import type { WindowsOptions } from '../topology/windows.ts'
import type { WindowConfig } from './application-config.ts'
import type { Fields } from './fields.ts'
import type { ProblemList } from './problems.ts'
import { isTopicName } from './read-parts.ts'

const SIZES = ['tumbling', 'hopping', 'sliding', 'session'] as const
const KEYS = [...SIZES, 'unlimited', 'every', 'grace']

/** Reads `window`, `emit` and `late` of an aggregation; `undefined` without a window. */
export function readWindow(step: Fields, problems: ProblemList): WindowConfig | undefined {
  const inner = step.fields('window')
  if (inner === undefined) {
    for (const name of ['emit', 'late']) {
      if (!step.has(name) || step.has('window')) continue
      problems.add(
        step.keyPlace(name),
        `"${name}" of ${step.what} needs a window`,
        'add window: { tumbling: 1m, grace: 10s }',
      )
    }
    return undefined
  }
  const windows = readBounds(inner, problems)
  const late = step.fields('late')
  late?.checkKnown(['topic'])
  late?.require('topic', 'the topic of late records')
  const topic = late?.text('topic')
  return {
    windows,
    emit: step.choice('emit', ['updates', 'final']),
    lateTopic:
      late !== undefined && topic !== undefined && isTopicName(topic, late, 'topic', problems) ? topic : undefined,
  }
}

/** Bounds in ms; mistakes are noted and left out. */
function readBounds(inner: Fields, problems: ProblemList): WindowsOptions {
  inner.checkKnown(KEYS)
  const given = [...SIZES, 'unlimited' as const].filter(name => inner.has(name))
  const [kind, second] = given
  if (kind === undefined || second !== undefined) {
    problems.add(
      second === undefined ? inner.place : inner.keyPlace(second),
      `${inner.what} is one of ${SIZES.join(', ')}, unlimited`,
      given.length > 1 ? `and not both ${given.join(' and ')}` : 'for example { tumbling: 1m, grace: 10s }',
    )
  }
  if (kind === 'unlimited') {
    for (const name of ['grace', 'every']) {
      if (inner.has(name))
        problems.add(inner.keyPlace(name), `a window that never closes has no "${name}"`, 'leave it out')
    }
    return { unlimited: inner.integer('unlimited', 0) ?? 0 }
  }
  if (!inner.has('grace')) {
    problems.add(
      inner.place,
      `${inner.what} lacks "grace": how long after its end a window still takes late records`,
      'write grace: 0s for none',
    )
  }
  const isHopping = kind === 'hopping'
  if (isHopping) inner.require('every', 'the distance between two windows')
  else if (inner.has('every'))
    problems.add(inner.keyPlace('every'), `only hopping windows have "every"`, 'leave it out')
  const size = kind === undefined ? undefined : inner.duration(kind)
  const every = isHopping ? inner.duration('every') : undefined
  if (typeof size === 'number' && typeof every === 'number' && every > size) {
    problems.add(
      inner.keyPlace('every'),
      `"every" of ${inner.what} is at most the size of a window`,
      'records would fall between two windows',
    )
  }
  // What is missing or wrong has been noted; any value lets the rest be checked.
  return {
    [kind ?? 'tumbling']: size ?? 1,
    ...(isHopping ? { every: Math.min(Number(every ?? 1), Number(size ?? 1)) } : {}),
    grace: inner.duration('grace') ?? 0,
  }
}
