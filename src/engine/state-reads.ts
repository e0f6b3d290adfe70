import type { Clock } from '../model/clock.ts'
import { asMillraceError, MillraceError } from '../model/errors.ts'
import type { AnySerde } from '../serdes/serde.ts'
import type { AnyState } from '../stores/any-state.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import type { ActiveTask } from './active-task.ts'
import type { CommitSchedule } from './commit-schedule.ts'
import type { GlobalTables } from './global-tables.ts'
import type { StateAnswer, StatePage, StateQuestion } from './state-question.ts'
import { readStore } from './store-page.ts'
import type { TaskRegistry } from './task-registry.ts'
import { postedError } from './posted-error.ts'

/** Questions that may wait for a commit at a time. */
const WAITING_MAX = 10_000
/** A commit that is further away than this is asked for as soon as a question waits for it. */
const COMMIT_WAIT_MS = 100

/** What the questions of a thread are answered from. */
export interface StateReadsOptions {
  readonly plan: ApplicationPlan
  readonly registry: Pick<TaskRegistry, 'running'>
  readonly globals: Pick<GlobalTables, 'stores' | 'isComplete'>
  readonly schedule: Pick<CommitSchedule, 'nextMs' | 'request'>
  readonly clock: Pick<Clock, 'nowMs'>
  readonly onWake: () => void
}

interface Waiting {
  readonly question: StateQuestion
  readonly answer: (answer: StateAnswer) => void
}

/**
 * Answers questions about the stores of one thread from committed state only. Stores are written through, so a question
 * waits until what it looks at holds nothing uncommitted: right after a commit that is always so. Kafka Streams:
 * `StateQueryRequest` with the isolation of `read_committed`.
 */
export class StateReads {
  readonly #options: StateReadsOptions
  readonly #valueSerdes = new Map<string, AnySerde>()
  #waiting: Waiting[] = []
  #ended = false

  constructor(options: StateReadsOptions) {
    this.#options = options
    const { subtopologies, globalTables } = options.plan
    const definitions = subtopologies.flatMap(({ stores }) => stores.map(({ definition }) => definition))
    for (const { store } of globalTables) definitions.push(store)
    for (const { name, value } of definitions) this.#valueSerdes.set(name, value)
  }

  /** Takes a question; the loop answers it between two records. */
  ask(question: StateQuestion, answer: (answer: StateAnswer) => void): void {
    if (this.#ended) return answer(notReady('The thread has ended.'))
    if (this.#waiting.length >= WAITING_MAX) return answer(notReady(`${String(WAITING_MAX)} reads wait already.`))
    this.#waiting.push({ question, answer })
    this.#options.onWake()
  }

  /** Answers what can be answered from committed state, and has a commit made for the rest. */
  answerWaiting(): void {
    if (this.#waiting.length === 0) return
    const { registry, schedule, clock } = this.#options
    const tasks = registry.running()
    this.#waiting = this.#waiting.filter(waiting => !this.#answers(waiting, tasks))
    if (this.#waiting.length > 0 && schedule.nextMs(false) - clock.nowMs() > COMMIT_WAIT_MS) schedule.request()
  }

  /** The loop has ended: what waits is told so. */
  end(): void {
    this.#ended = true
    for (const { answer } of this.#waiting.splice(0)) answer(notReady('The thread has ended.'))
  }

  #answers({ question, answer }: Waiting, tasks: readonly ActiveTask[]): boolean {
    const places = this.#placesOf(question, tasks)
    if (places.some(({ store }) => store.dirty)) return false
    try {
      answer({ type: 'page', page: this.#page(question, places) })
    } catch (error) {
      answer(failedAnswer(asMillraceError(error)))
    }
    return true
  }

  /** The store in each partition asked for that is here and complete, in the order asked for. */
  #placesOf({ store: name, partitions }: StateQuestion, tasks: readonly ActiveTask[]): readonly Place[] {
    const { globals } = this.#options
    const global = globals.stores.get(name)
    if (global !== undefined) return globals.isComplete ? [{ store: global, partition: undefined }] : []
    return partitions.flatMap(partition => {
      for (const task of tasks) {
        const store = task.partition === partition && task.task.stores.find(candidate => candidate.name === name)
        if (store !== undefined && store !== false) return [{ store, partition }]
      }
      return []
    })
  }

  #page(question: StateQuestion, places: readonly Place[]): StatePage {
    const serde = this.#valueSerdes.get(question.store)
    if (serde === undefined) throw new MillraceError('NAME_UNKNOWN', { node: question.store })
    const absent = question.partitions.filter(partition => !places.some(place => place.partition === partition))
    if (places.length === 0 && question.partitions.length === 0) {
      throw new MillraceError('STATE_NOT_READY', { what: `The global table ${question.store} is still being read.` })
    }
    for (const { store, partition } of places) {
      const { rows, more } = readStore(question, store, serde)
      if (rows.length > 0) return { rows, partition, more, absent }
    }
    return { rows: [], partition: undefined, more: false, absent }
  }
}

interface Place {
  readonly store: AnyState
  readonly partition: number | undefined
}

function notReady(what: string): StateAnswer {
  return failedAnswer(new MillraceError('STATE_NOT_READY', { what }))
}

function failedAnswer(error: MillraceError): StateAnswer {
  return { type: 'failed', error: postedError(error) }
}
