import { long, streams, string, type Topology } from '../../../src/index.ts'

/** Counts `input` by key in stores of several kinds and keeps `facts` with their history. */
export function stateTopology(input: string, facts: string, output: string): Topology {
  return streams(builder => {
    const grouped = builder.stream(input, { key: string, value: string }).groupByKey()
    grouped.count({ store: 'counts' }).toStream().to(output, { key: string, value: long })
    grouped.windowedBy({ tumbling: '1m', grace: '1h' }).count({ store: 'windows' })
    grouped.windowedBy({ session: '10s', grace: '1h' }).count({ store: 'sessions' })
    builder.table(facts, { key: string, value: string, store: 'facts', versioned: { historyRetention: '1h' } })
  })
}

// Worker threads import this module by an address that names the topics.
const names = new URL(import.meta.url).searchParams

export default stateTopology(names.get('input') ?? 'in', names.get('facts') ?? 'facts', names.get('output') ?? 'out')
