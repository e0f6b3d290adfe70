import type { TopicName } from './plan.ts'
import type { Header } from './user-functions.ts'

/** What happens after a record: nothing is committed, or everything is, or everything since the last commit is done again. */
export type Aftermath = 'nothing' | 'commit' | 'abort' | 'restart'

/** A record piped into a topic, as it is drawn: topics by number, times by steps. */
export interface Drawn {
  readonly topic: number
  readonly key: string | null
  readonly value: string | null
  readonly step: number
  /** By how much the wall clock moves before, in ms. */
  readonly wall: number
  readonly headers: readonly Header[]
  readonly after: Aftermath
}

/** A record piped into a topic. */
export interface Piped {
  readonly topic: TopicName
  readonly key: string | null
  readonly value: string | null
  readonly time: number
  /** By how much the wall clock moves before, in ms. */
  readonly wall: number
  readonly headers: readonly Header[]
  /** Whether everything before it is committed first, what the wall clock brought too. */
  readonly isApart: boolean
  readonly after: Aftermath
}

const START_MS = 20

/** The records of a run over given topics. */
export function eventsOf(drawn: readonly Drawn[], topics: readonly TopicName[]): readonly Piped[] {
  let time = START_MS
  return drawn.flatMap(({ topic, step, ...record }) => {
    time = Math.max(0, time + step)
    const name = topics[topic % topics.length]
    return name === undefined ? [] : [{ ...record, topic: name, time, isApart: false }]
  })
}
