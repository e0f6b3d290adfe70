import { expect } from 'chai'
import fc from 'fast-check'
import { asMillraceError, MillraceError } from '../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../src/model/logger.ts'
import type { TopicPartition } from '../../src/model/topic-partition.ts'
import type { ActiveTask } from '../../src/engine/active-task.ts'
import { AssignmentClaims } from '../../src/engine/assignment-claims.ts'
import { readProgress } from '../../src/engine/commit-offsets.ts'
import { ExactlyOnceStrategy } from '../../src/engine/exactly-once-strategy.ts'
import { InputRewinder } from '../../src/engine/input-rewinder.ts'
import { string } from '../../src/serdes/text.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { Answers, FakeFetcher, FakeMember, FakeOffsets, FakeProducer, TaskRoom } from '../unit/engine/engine-fakes.ts'
import { FedBlock } from '../unit/engine/task-bench.ts'

const IN: TopicPartition = { topic: 'in', partition: 0 }
const KEYS = ['a', 'b', 'c'] as const

/** How a commit goes: as it should, refused on the way, or without an answer and then one way or the other. */
const FATES = ['committed', 'flushFails', 'offsetsRefused', 'unknownCommitted', 'unknownAborted'] as const
type Fate = (typeof FATES)[number]

type Step = { readonly kind: 'read'; readonly records: number } | { readonly kind: 'commit'; readonly fate: Fate }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('read' as const), records: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant('commit' as const), fate: fc.constantFrom(...FATES) }),
)

/** A counting task over a group and a producer that are played; what is visible of it is kept apart. */
class Thread {
  readonly #room = new TaskRoom(builder => {
    builder
      .stream('in', { key: string, value: string })
      .groupByKey()
      .count({ store: 'c' })
      .toStream()
      .mapValues(String)
      .to('out', { value: string })
  })
  readonly #producer = new FakeProducer()
  readonly #offsets = new FakeOffsets()
  readonly #fetcher = new FakeFetcher()
  readonly #task: ActiveTask
  readonly #strategy: ExactlyOnceStrategy
  #visible = 0
  /** Input ranges of the transactions that took effect. */
  readonly ranges: (readonly [from: number, to: number])[] = []

  constructor() {
    const [task] = this.#room.running([IN])
    if (task === undefined) throw new Error('there is no task')
    for (const input of task.inputs) input.committed = undefined
    this.#task = task
    this.#fetcher.add(IN, { offset: 0 })
    const claims = new AssignmentClaims()
    claims.changed([IN])
    let transaction = 0
    this.#strategy = new ExactlyOnceStrategy(
      {
        applicationId: 'app',
        clock: new ManualClock(),
        producer: this.#producer,
        member: new FakeMember(),
        offsets: this.#offsets,
        claims,
        logger: SILENT_LOGGER,
        stopRequested: () => false,
        stepTimeoutMs: () => 1_000,
        tasks: () => [task],
        resolveTopic: topic => Promise.reject(new Error(`nobody looks up ${topic}`)),
        nextTransaction: () => (transaction += 1),
        workEpoch: () => undefined,
      },
      new InputRewinder(this.#fetcher),
    )
  }

  /** Reads on where the fetcher stands, one key after the other. */
  read(records: number): void {
    const from = this.#fetcher.positions.get(IN) ?? 0
    const fed = Array.from({ length: records }, (_, at) => ({
      key: keyAt(from + at),
      value: 'v',
      offset: from + at,
      timestamp: from + at,
    }))
    this.#fetcher.seek(IN, from + records)
    this.#task.task.enqueue('in', new FedBlock(fed))
    this.#task.task.process(records)
  }

  async commit(fate: Fate): Promise<void> {
    const producer = this.#producer
    const refusal = new MillraceError('TRANSACTION_ABORTED')
    producer.flushes = new Answers<'done'>(fate === 'flushFails' ? refusal : 'done')
    producer.sends = new Answers<'done' | 'illegalGeneration'>(fate === 'offsetsRefused' ? refusal : 'done')
    const isUnknown = fate === 'unknownCommitted' || fate === 'unknownAborted'
    producer.commits = new Answers<'committed' | 'unknown'>(isUnknown ? 'unknown' : 'committed')
    producer.whileCommitting = () => {
      if (fate === 'unknownAborted') this.#room.collector.truncate(this.#visible)
      else this.#takeEffect()
    }
    try {
      await this.#strategy.commit()
    } catch (error) {
      this.#room.collector.truncate(this.#visible)
      await this.#strategy.abort(asMillraceError(error))
    }
  }

  /** What a reader sees, and what the task would count on from. */
  outcome(): { readonly output: readonly string[]; readonly committed: number; readonly partitionTime: number } {
    const offset = this.#offsets.committed.get(IN)
    const output = this.#room.collector.sent
      .slice(0, this.#visible)
      .filter(({ topic }) => topic === 'out')
      .map(({ key, value }) => `${String(key)}=${String(value)}`)
    return {
      output,
      committed: offset?.offset ?? 0,
      partitionTime: offset === undefined ? -1 : readProgress(offset).partitionTime,
    }
  }

  #takeEffect(): void {
    const from = this.#offsets.committed.get(IN)?.offset ?? 0
    for (const [partition, offset] of this.#producer.sent.at(-1)?.offsets ?? []) {
      this.ranges.push([from, offset.offset])
      this.#offsets.committed.set(partition, offset)
    }
    this.#visible = this.#room.collector.sent.length
  }
}

function keyAt(offset: number): string {
  return KEYS[offset % KEYS.length] ?? 'a'
}

/** The outputs that the input below an offset demands. */
function demandedBelow(offset: number): readonly string[] {
  return Array.from({ length: offset }, (_, at) => `${keyAt(at)}=${String(Math.floor(at / KEYS.length) + 1)}`)
}

describe('commits of a thread', () => {
  it('make visible exactly what the committed input demands, whatever becomes of them (I1, I2, I3, I10)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
        const thread = new Thread()
        for (const each of steps) {
          if (each.kind === 'read') thread.read(each.records)
          else await thread.commit(each.fate)
          const { output, committed, partitionTime } = thread.outcome()
          expect(output).to.deep.equal(demandedBelow(committed))
          expect(partitionTime).to.equal(committed - 1)
        }
        let next = 0
        for (const [from, to] of thread.ranges) {
          expect(from).to.equal(next)
          expect(to).to.be.greaterThan(from)
          next = to
        }
      }),
      { numRuns: 100 },
    )
  })
})
