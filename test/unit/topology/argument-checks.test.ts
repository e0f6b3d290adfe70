import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { string } from '../../../src/serdes/text.ts'
import { CHECKED } from '../../../src/topology/argument-checks.ts'
import { streams } from '../../../src/topology/streams.ts'

/** The DSL as JavaScript sees it. */
type Untyped = (...args: unknown[]) => { readonly [method: string]: Untyped }
type Handle = ReturnType<Untyped>

const text = { key: string, value: string }
const step = (): string => ''

/** What a method is called on. */
const SUBJECTS: Readonly<Record<string, (b: Handle) => Handle>> = {
  StreamsBuilder: b => b,
  KStream: b => call(b, 'stream', 'in', text),
  KGroupedStream: b => call(subject('KStream', b), 'groupByKey'),
  WindowedKStream: b => call(subject('KGroupedStream', b), 'windowedBy', { tumbling: 10, grace: 0 }),
  CogroupedKStream: b => call(subject('KGroupedStream', b), 'cogroup', step),
  WindowedCogroupedKStream: b => call(subject('CogroupedKStream', b), 'windowedBy', { tumbling: 10, grace: 0 }),
  KTable: b => call(b, 'table', 'table', { ...text, store: 't' }),
  KGroupedTable: b => call(subject('KTable', b), 'groupBy', () => ['', ''], text),
}

/** What an argument may be, by its name. */
const GOOD: Readonly<Record<string, () => unknown>> = {
  topics: () => 'topic',
  topic: () => 'topic',
  store: () => ({ name: 's' }),
  branches: () => ({ a: step, rest: 'default' }),
  serdes: () => text,
  windows: () => ({ tumbling: 10, grace: 0 }),
  supplier: () => ({ init: () => step }),
  options: () => text,
}

const BAD: readonly (readonly [value: unknown, shown: string])[] = [
  [undefined, 'undefined'],
  [null, 'null'],
  [5, '5'],
  [['x', 5], 'a list'],
]

function call(on: Handle, method: string, ...args: unknown[]): Handle {
  const found = on[method]
  if (found === undefined) throw new Error(`there is no ${method}`)
  return found.apply(on, args)
}

function subject(name: string, builder: Handle): Handle {
  const found = SUBJECTS[name]
  if (found === undefined) throw new Error(`nothing is known of ${name}`)
  return found(builder)
}

/** What a graph that JavaScript builds is refused for. */
function refusal(define: (b: Handle) => unknown): string {
  try {
    streams(b => {
      define(asHandle(b))
    })
  } catch (thrown) {
    if (thrown instanceof MillraceError && thrown.code === 'TOPOLOGY_INVALID') return thrown.message
    throw thrown
  }
  return 'nothing'
}

function asHandle(builder: object): Handle
function asHandle(builder: unknown): unknown {
  return builder
}

describe('an argument of the DSL that JavaScript hands over without types', () => {
  for (const [type, { prototype }, methods] of CHECKED) {
    it(`is looked at by every method of ${type}`, () => {
      const internal = ['constructor', 'joinTable', 'joinGlobalTable', 'joinStream']
      const all = Object.entries(Object.getOwnPropertyDescriptors(prototype))
        .filter(([name, { value }]) => typeof value === 'function' && !internal.includes(name))
        .map(([name]) => name)
      expect(Object.keys(methods)).to.have.members(all)
    })

    for (const [method, parameters] of Object.entries(methods)) {
      for (const [at, [name, kind]] of parameters.entries()) {
        it(`is refused with its name and what was given: ${name} of ${type}.${method}`, () => {
          const refused = BAD.filter(([value]) => !kind.matches(value))
          expect(refused).to.not.deep.equal([])
          for (const [value, shown] of refused) {
            const message = refusal(b => {
              const on = subject(type, b)
              const before = parameters
                .slice(0, at)
                .map(([earlier]) => (earlier === 'other' ? otherOf(b, on, type, method) : (GOOD[earlier]?.() ?? step)))
              return call(on, method, ...before, value)
            })
            expect(message).to.contain(`${type}.${method}: "${name}" is ${kind.what}, got ${shown}.`)
          }
        })
      }
    }
  }

  it('is refused inside options too: serdes, functions, stores, names', () => {
    const refusals = [
      refusal(b => call(b, 'stream', 'in', { key: 'string' })),
      refusal(b => call(b, 'table', 'in', { key: string })),
      refusal(b => call(subject('KStream', b), 'to', 'out', { value: step, partitioner: 3 })),
      refusal(b => call(subject('KStream', b), 'process', { init: step, stores: { a: undefined } })),
      refusal(b => call(subject('KGroupedStream', b), 'aggregate', step, step, { store: 's' })),
      refusal(b => call(subject('KStream', b), 'filter', step, { name: 5 })),
      refusal(b => call(subject('KStream', b), 'join', subject('KTable', b), step, 'options')),
      refusal(b => call(subject('KStream', b), 'join', call(b, 'globalTable', 'g', text), step)),
      refusal(b => call(subject('WindowedKStream', b), 'aggregate', step, step, step)),
      refusal(b => call(subject('WindowedCogroupedKStream', b), 'aggregate', step, {})),
    ]
    expect(refusals.map(message => message.split('.').slice(0, 2).join('.'))).to.deep.equal([
      'StreamsBuilder.stream: "key" is a serde, got "string"',
      'StreamsBuilder.table: "value" is a serde, got undefined',
      'KStream.to: "value" is a serde, got the function step',
      'KStream.process: "stores" is an object of stores, got an object',
      'KGroupedStream.aggregate: "value" is a serde, got undefined',
      'KStream.filter: "name" is a text, got 5',
      'KStream.join: "options" is an object of options, got "options"',
      'KStream.join: "joiner" is a function, got undefined',
      'WindowedKStream.aggregate: "options" is an object, got undefined',
      'WindowedCogroupedKStream.aggregate: "value" is a serde, got undefined',
    ])
  })
})

/** What a method may be given to join, merge or cogroup with. */
function otherOf(b: Handle, on: Handle, type: string, method: string): unknown {
  if (type === 'CogroupedKStream') return call(call(b, 'stream', `other-${method}`, text), 'groupByKey')
  return on
}
