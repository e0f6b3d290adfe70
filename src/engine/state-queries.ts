import { MillraceError } from '../model/errors.ts'
import { partitionForKey } from '../model/murmur2.ts'
import { nearestName } from '../model/nearest-name.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import type { StatePage, StateQuestion, StateRow } from './state-question.ts'
import type { StreamsState } from './streams-state.ts'
import type { TaskInfo } from './task-info.ts'
import type { ThreadHandle } from './thread-handle.ts'
import { receivedError } from './posted-error.ts'

/** A question before it is known which partitions it goes to. */
export type Unplaced<Question extends StateQuestion> = Question extends StateQuestion
  ? Omit<Question, 'partitions'>
  : never

/** A question about one key. */
export type KeyQuestion = Extract<StateQuestion, { readonly key: Uint8Array }>
/** A question about the times of one key, which gives a page at a time. */
export type TimesQuestion = Extract<StateQuestion, { readonly skip: number }>
/** A question about a range of keys, which gives a page at a time. */
export type RangeQuestion = Extract<StateQuestion, { readonly kind: 'range' }>

/** The running application, as far as reads of its state need to know it. */
export interface StateHost {
  readonly state: StreamsState
  /** `undefined` before the start. */
  readonly application:
    | { readonly plan: ApplicationPlan; readonly topics: { readonly partitions: ReadonlyMap<string, number> } }
    | undefined
  readonly threads: readonly ThreadHandle[]
}

/** Where the partitions of a store are in this instance. */
interface StorePlace {
  readonly definition: StoreDefinition
  /** Of its topics; 0 for a global table, which every thread holds in full. */
  readonly partitionCount: number
  /** Each thread with tasks that hold it. */
  readonly holders: readonly Holder[]
}

interface Holder {
  readonly thread: ThreadHandle
  readonly tasks: readonly TaskInfo[]
}

/** States in which an instance has state that can be read. */
const READABLE: ReadonlySet<StreamsState> = new Set<StreamsState>(['rebalancing', 'running', 'paused'])

/** Finds out which threads a question goes to, asks them, and says clearly when an answer cannot be had. */
export class StateQueries {
  readonly #host: StateHost

  constructor(host: StateHost) {
    this.#host = host
  }

  /** What the topology says about a store. @throws MillraceError `NOT_RUNNING`, `NAME_UNKNOWN` */
  definition(store: string): StoreDefinition {
    return this.#place(store).definition
  }

  /** The one row that answers a question about a key; `undefined` when there is none. */
  async single(question: Unplaced<KeyQuestion>): Promise<StateRow | undefined> {
    const { page } = await this.#first(question)
    return page.rows[0]
  }

  /** All windows or sessions of a key, page by page. */
  async *times(question: Unplaced<TimesQuestion>): AsyncIterableIterator<StateRow> {
    let { thread, page } = await this.#first(question)
    let { from, skip } = question
    while (page.rows.length > 0) {
      yield* page.rows
      if (!page.more) return
      const timeOf = (row: StateRow): number => (question.kind === 'windows' ? row.start : (row.end ?? row.start))
      const [last] = page.rows.slice(-1)
      const lastTime = last === undefined ? from : timeOf(last)
      const given = page.rows.filter(row => timeOf(row) === lastTime).length
      skip = lastTime === from ? skip + given : given
      from = lastTime
      page = await askOne(thread, { ...question, from, skip, partitions: partitionsOf(page) })
    }
  }

  /** All entries of a range of keys, partition by partition, page by page. */
  async *range(question: Unplaced<RangeQuestion>): AsyncIterableIterator<StateRow> {
    const place = this.#place(question.store)
    const holders = place.holders.flatMap(({ thread, tasks }) => tasks.map(task => ({ thread, task })))
    const late = holders.find(({ task }) => task.state !== 'running')
    if (late !== undefined) throw notReady(question.store, `the task ${late.task.id} is ${late.task.state}`)
    if (holders.length === 0 && this.#host.state === 'rebalancing') {
      throw notReady(question.store, 'no partitions are assigned yet')
    }
    const [anyThread] = this.#host.threads
    if (place.partitionCount === 0 && anyThread !== undefined) yield* readThrough(anyThread, question, [])
    holders.sort((a, b) => partitionOf(a.task) - partitionOf(b.task))
    for (const { thread, task } of holders) yield* readThrough(thread, question, [partitionOf(task)])
  }

  /** The first page of a question about a key, of whichever partition here has it. */
  async #first(question: Unplaced<KeyQuestion>): Promise<{ readonly thread: ThreadHandle; readonly page: StatePage }> {
    const { store, key } = question
    const { partitionCount, holders } = this.#place(store)
    if (partitionCount === 0) {
      const [thread] = this.#host.threads
      if (thread === undefined) throw notReady(store, 'no thread is running')
      return { thread, page: await ask(thread, { ...question, partitions: [] }) }
    }
    const owner = partitionForKey(key, partitionCount)
    const answers = await Promise.all(
      holders.map(async ({ thread, tasks }) => ({
        thread,
        page: await ask(thread, { ...question, partitions: tasks.map(partitionOf) }),
      })),
    )
    const found = answers.filter(({ page }) => page.rows.length > 0)
    const best = found.find(({ page }) => page.partition === owner) ?? found[0]
    if (best !== undefined) return best
    // Nothing here has it: that is the answer only where the partition it belongs to was looked at.
    const holder = holders.findIndex(({ tasks }) => tasks.some(task => partitionOf(task) === owner))
    const answer = answers[holder]
    if (answer === undefined) throw this.#elsewhere(store, owner)
    if (answer.page.absent.includes(owner)) throw notReady(store, `its partition ${String(owner)} is not complete yet`)
    return answer
  }

  #elsewhere(store: string, partition: number): MillraceError {
    if (this.#host.state === 'rebalancing') {
      return notReady(store, `partition ${String(partition)} is not here, and the group is assigning partitions`)
    }
    return new MillraceError('STATE_ELSEWHERE', {
      node: store,
      partition,
      what: `The key belongs to partition ${String(partition)} of the store ${store}, which is not assigned to this instance.`,
    })
  }

  #place(store: string): StorePlace {
    const { application, state, threads } = this.#host
    if (application === undefined || !READABLE.has(state)) {
      throw new MillraceError('NOT_RUNNING', {
        node: store,
        what: `An instance that is ${state} has no state to read.`,
      })
    }
    const { plan, topics } = application
    const global = plan.globalTables.find(table => table.store.name === store)
    if (global !== undefined) return { definition: global.store, partitionCount: 0, holders: [] }
    for (const subtopology of plan.subtopologies) {
      const found = subtopology.stores.find(({ name }) => name === store)
      if (found === undefined) continue
      const sources = subtopology.sources.flatMap(source => source.topics)
      const partitionCount = Math.max(1, ...sources.map(topic => topics.partitions.get(topic) ?? 1))
      const holders = threads.map(thread => ({
        thread,
        tasks: thread.tasks().filter(({ id }) => id.startsWith(`${String(subtopology.id)}_`)),
      }))
      return { definition: found.definition, partitionCount, holders: holders.filter(({ tasks }) => tasks.length > 0) }
    }
    throw unknownStore(store, plan)
  }
}

/** Every page of a range in one partition. */
async function* readThrough(
  thread: ThreadHandle,
  question: Unplaced<RangeQuestion>,
  partitions: readonly number[],
): AsyncIterableIterator<StateRow> {
  let { after } = question
  for (;;) {
    const page = await askOne(thread, { ...question, after, partitions })
    yield* page.rows
    if (!page.more) return
    after = page.rows.at(-1)?.key
  }
}

/** Asks about one partition that was here a moment ago. */
async function askOne(thread: ThreadHandle, question: StateQuestion): Promise<StatePage> {
  const page = await ask(thread, question)
  if (page.absent.length > 0) throw notReady(question.store, `partition ${page.absent.join(', ')} is being handed over`)
  return page
}

async function ask(thread: ThreadHandle, question: StateQuestion): Promise<StatePage> {
  const answer = await thread.read(question)
  if (answer.type === 'failed') throw receivedError(answer.error)
  return answer.page
}

function partitionsOf({ partition }: StatePage): readonly number[] {
  return partition === undefined ? [] : [partition]
}

function partitionOf({ id }: TaskInfo): number {
  return Number(id.slice(id.indexOf('_') + 1))
}

function notReady(store: string, why: string): MillraceError {
  return new MillraceError('STATE_NOT_READY', {
    node: store,
    what: `The store ${store} cannot be read at this moment: ${why}.`,
  })
}

function unknownStore(store: string, { subtopologies, globalTables }: ApplicationPlan): MillraceError {
  const known = subtopologies.flatMap(({ stores }) => stores.map(({ name }) => name))
  for (const table of globalTables) known.push(table.store.name)
  const nearest = nearestName(store, known)
  const hint = known.length === 0 ? 'it has none' : `it has ${known.toSorted().join(', ')}`
  return new MillraceError('NAME_UNKNOWN', {
    node: store,
    what: `The topology has no store ${store}; ${hint}.`,
    ...(nearest === undefined ? {} : { action: `Did you mean ${nearest}?` }),
  })
}
