import { MillraceError } from '../model/errors.ts'

/** What `topology.optimization` can switch on. Kafka Streams: `StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG`. */
export const OPTIMIZATIONS = [
  'reuse.ktable.source.topics',
  'merge.repartition.topics',
  'single.store.self.join',
] as const

/** One optimization. */
export type Optimization = (typeof OPTIMIZATIONS)[number]

const NONE: ReadonlySet<Optimization> = new Set()
const ALL: ReadonlySet<Optimization> = new Set(OPTIMIZATIONS)

/**
 * The optimizations a value of `topology.optimization` names: `none`, `all`, or some with commas between.
 *
 * @throws MillraceError `USAGE` when a name is unknown
 */
export function optimizationsOf(value: string | undefined): ReadonlySet<Optimization> {
  if (value === undefined || value === 'none') return NONE
  if (value === 'all') return ALL
  const names = value.split(',').map(name => name.trim())
  return new Set(
    names.map(name => {
      const known = OPTIMIZATIONS.find(optimization => optimization === name)
      if (known !== undefined) return known
      throw new MillraceError('USAGE', {
        what: `topology.optimization: ${JSON.stringify(name)} is none of none, all, ${OPTIMIZATIONS.join(', ')}.`,
      })
    }),
  )
}
