import { isSerde } from '../serdes/is-serde.ts'
import { json } from '../serdes/json.ts'
import { serdeNamed } from '../serdes/names.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { bytes, string } from '../serdes/text.ts'
import type { VersionedOption, WindowedStoreOptions } from '../topology/options.ts'
import type { SerdeSpec, StepConfig, StoreSpecConfig } from './application-config.ts'
import type { ExpressionCompiler } from './expression-compiler.ts'
import type { ExpressionSpec } from './expression-spec.ts'
import type { ProblemList } from './problems.ts'

/** What building one step works with. */
export interface BuildContext {
  readonly compiler: ExpressionCompiler
  readonly problems: ProblemList
}

/** Stands for a serde that could not be read, while the rest of what names it is checked. */
const UNREADABLE: AnySerde = { ...bytes }

/**
 * The serde a configuration names; `undefined` when it names none. One that cannot be read is noted: whoever asks gets a
 * stand-in, and hands nothing on (`hasUnreadableSerde`).
 */
export function serdeOf(spec: SerdeSpec | undefined, { compiler, problems }: BuildContext): AnySerde | undefined {
  if (spec === undefined) return undefined
  if (spec.kind === 'unreadable') return UNREADABLE
  if (spec.kind === 'named') return serdeNamed(spec.name)
  if (spec.kind === 'windowed') {
    problems.add(
      spec.place,
      `{ windowed: ${spec.name} } writes keys of windows, and only a sink of a windowed stream has them`,
      'name the serde of the key alone',
      'SERDE_MISMATCH',
    )
    return UNREADABLE
  }
  const value = compiler.exportOf(spec.reference)
  if (value === undefined) return UNREADABLE
  if (isSerde(value)) return value
  const { path, exportName, place } = spec.reference
  problems.add(
    place,
    `${path}#${exportName} is no serde: it needs name, serialize and deserialize`,
    undefined,
    'MODULE_NOT_LOADED',
  )
  return UNREADABLE
}

/**
 * Whether a source or step has a serde that could not be read. Its records are then of nobody knows what bytes, and
 * everything that could be said of those who read them would follow from this one mistake.
 */
export function hasUnreadableSerde(
  specs: { readonly key: SerdeSpec | undefined; readonly value: SerdeSpec | undefined },
  { compiler }: BuildContext,
): boolean {
  return [specs.key, specs.value].some(spec => {
    if (spec?.kind === 'module') return !isSerde(compiler.exportOf(spec.reference))
    return spec?.kind === 'unreadable' || spec?.kind === 'windowed'
  })
}

/** The serde of a computed key: the one written, else text. */
export function computedKeySerde(step: StepConfig, context: BuildContext): AnySerde {
  return serdeOf(step.key, context) ?? string
}

/** The serde of a computed value: the one written, JSON for what is built of parts or by code, else nobody has said. */
export function computedValueSerde(
  spec: ExpressionSpec | undefined,
  step: StepConfig,
  context: BuildContext,
): AnySerde | undefined {
  const written = serdeOf(step.value, context)
  if (written !== undefined || spec === undefined) return written
  return spec.kind === 'expression' || spec.kind === 'literal' ? undefined : json()
}

/** Options of a store: named after the step unless it has a name of its own. */
export function storeOptions(
  step: string,
  store: StoreSpecConfig | undefined,
): WindowedStoreOptions & { readonly store: string } {
  return {
    name: step,
    store: store?.name ?? step,
    ...(store?.maxBytes === undefined ? {} : { maxBytes: store.maxBytes }),
    ...(store?.logging === undefined ? {} : { logging: store.logging }),
    ...(store?.caching === undefined ? {} : { caching: store.caching }),
    ...(store?.retentionMs === undefined ? {} : { retention: store.retentionMs }),
  }
}

/** Options of the store of a table, which may keep versions. */
export function resultOptions(step: StepConfig): ReturnType<typeof storeOptions> & VersionedOption {
  const { name, store, versionedMs } = step
  const options = storeOptions(name, store)
  return versionedMs === undefined ? options : { ...options, versioned: { historyRetention: versionedMs } }
}
