import type { ModelRun } from '../model-run.ts'
import { missingNote, type ObservedRecord, visible } from '../observed-log.ts'
import type { RunObservation } from '../run-observation.ts'
import { placeOf, type TaskView } from '../task-view.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/** I16: each refused record has exactly one dead letter, and nothing else has one. Its place is in headers of Kafka Streams' own. */
export function checkDeadLetters(run: RunObservation, models: readonly ModelRun[]): CheckReport {
  const book = new CheckBook('deadLetters')
  for (const topic of deadLetterTopics(run)) {
    const logs = run.logs.of(topic)
    const letters = logs.flatMap(visible)
    const seen = new Map<string, ObservedRecord>()
    for (const letter of letters) {
      const source = sourceOf(letter)
      if (source === undefined) continue
      book.compared()
      const before = seen.get(source)
      if (before !== undefined) {
        book.found('duplicate', `${placeOf(letter)} and ${placeOf(before)} are both the dead letter of ${source}`)
      }
      seen.set(source, letter)
    }
    const missing = missingNote(logs)
    if (missing !== undefined) book.leftOut(`letters in ${missing}`)
    if (models.some(({ obstacles }) => obstacles.length > 0)) {
      book.leftOut(`which records had to have a letter in ${topic}: not all input can be computed again`)
      continue
    }
    const expected = new Set(
      models.flatMap(({ written }) =>
        written.filter(record => record.topic === topic).map(({ cause }) => placeOf(cause)),
      ),
    )
    // What was refused is counted where it is refused, not where its letter is written: that may be what is broken.
    for (const { refused, task } of models) {
      if (letterTopicOf(run, task) !== topic) continue
      for (const record of refused) expected.add(placeOf(record))
    }
    const open = new Set(
      logs.flatMap(({ records }) => records.flatMap(one => (one.fate === 'open' ? [sourceOf(one)] : []))),
    )
    for (const source of expected) {
      book.compared()
      if (seen.has(source)) continue
      if (open.has(source)) book.unjudged(`a dead letter in ${topic} is in a transaction that is still open`)
      else if (missing === undefined) book.found('lost', `${source} was refused and has no dead letter in ${topic}`)
    }
    for (const [source, letter] of seen) {
      if (!expected.has(source))
        book.found('unexplained', `${placeOf(letter)} is the dead letter of ${source}, which was not refused`)
    }
  }
  return book.report()
}

/** Where a task's dead letters go; sources with topics of their own are left to what the model writes. */
function letterTopicOf({ application: { policies } }: RunObservation, { plan }: TaskView): string | undefined {
  const hasOwn = plan.sources.some(({ errors }) => errors?.deadLetterTopic !== undefined)
  return hasOwn ? undefined : policies.deadLetterTopic
}

function deadLetterTopics({ application: { plan, policies } }: RunObservation): readonly string[] {
  const ofSources = plan.subtopologies.flatMap(({ sources }) => sources.map(({ errors }) => errors?.deadLetterTopic))
  return [...new Set([policies.deadLetterTopic, ...ofSources].filter(topic => topic !== undefined))]
}

function sourceOf({ headers }: ObservedRecord): string | undefined {
  const part = (name: string): string | undefined => headers.getString(`__streams.errors.${name}`) ?? undefined
  const [topic, partition, offset] = [part('topic'), part('partition'), part('offset')]
  if (topic === undefined || partition === undefined || offset === undefined) return undefined
  return `${topic}-${partition}@${offset}`
}
