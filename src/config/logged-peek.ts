import { useBy } from '../topology/reads.ts'
import type { StreamParts } from '../topology/parts.ts'
import type { RecordFunction } from './step-functions.ts'

/** Adds a step that logs what a function makes of each record, and passes the record on. */
export function addLoggedPeek(stream: StreamParts, name: string, shown: RecordFunction): StreamParts {
  const node = stream.graph.add({
    name,
    parents: [stream.node],
    use: side => ({ ...useBy(shown, side), passes: true, writes: [] }),
    serdes: { key: stream.key, value: stream.value },
    compile: ({ site, logger, next }) => {
      return (key, value, timestamp, headers) => {
        site.record.enter(name, timestamp, headers)
        logger.info({ step: name, value: shown(value, key, site.record.view) }, 'peek')
        next(key, value, timestamp, headers)
      }
    },
  })
  return { ...stream, node }
}
