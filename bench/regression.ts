import type { BenchResult, Ratios } from './result.ts'

/** Worse by more than a third. */
const KEPT_MIN = 2 / 3

const MEASURES: readonly { readonly name: keyof Ratios; readonly title: string; readonly higherIsBetter: boolean }[] = [
  { name: 'throughput', title: 'throughput', higherIsBetter: true },
  { name: 'cpu', title: 'processor time per record', higherIsBetter: false },
  { name: 'memory', title: 'memory', higherIsBetter: false },
  { name: 'latencyP99', title: 'latency p99', higherIsBetter: false },
]

/**
 * Lines about ratios to Kafka Streams that have become worse by more than a third against an earlier result. Ratios only:
 * figures themselves depend on the machine. Scenarios and measures that one of the two lacks are passed over.
 */
export function regressionsOf(reference: BenchResult, fresh: BenchResult): readonly string[] {
  return Object.entries(fresh.ratios).flatMap(([id, ratios]) =>
    MEASURES.flatMap(({ name, title, higherIsBetter }) => {
      const [now, before] = [ratios[name], reference.ratios[id]?.[name]]
      if (now === undefined || before === undefined) return []
      const kept = higherIsBetter ? now / before : before / now
      if (!(kept < KEPT_MIN)) return []
      return [
        `regression: ${id}, ${title}: ${now.toFixed(2)} times Kafka Streams, ${before.toFixed(2)} in the result of ${reference.date}`,
      ]
    }),
  )
}
