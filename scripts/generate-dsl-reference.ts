import { readFileSync } from 'node:fs'
import { declarationsOf, type Declaration } from './declarations.ts'

/** Chapters and the sources they are made from. */
const CHAPTERS: readonly (readonly [title: string, files: readonly string[]])[] = [
  [
    'Building a graph',
    [
      'src/topology/streams.ts',
      'src/topology/streams-builder.ts',
      'src/topology/topology.ts',
      'src/topology/topology-description.ts',
    ],
  ],
  ['Streams and tables', ['src/topology/dsl.ts', 'src/topology/dsl-types.ts']],
  ['Several streams, one aggregate', ['src/topology/cogroup-dsl.ts']],
  ['Windows', ['src/topology/windows.ts', 'src/model/windowed.ts']],
  ['Options and functions', ['src/topology/options.ts', 'src/model/duration.ts']],
  ['Records', ['src/model/record.ts', 'src/model/headers.ts', 'src/model/record-failure.ts']],
  ['Processors', ['src/topology/processor.ts']],
  ['Stores', ['src/stores/store-spec.ts', 'src/stores/store-types.ts']],
  [
    'Serdes',
    [
      'src/serdes/serde.ts',
      'src/serdes/text.ts',
      'src/serdes/numbers.ts',
      'src/serdes/json.ts',
      'src/serdes/nullable.ts',
      'src/serdes/windowed.ts',
    ],
  ],
  [
    'Running an application',
    [
      'src/millrace-streams.ts',
      'src/config/millrace-config.ts',
      'src/engine/streams-instance.ts',
      'src/engine/streams-state.ts',
      'src/engine/state-reader.ts',
      'src/engine/task-info.ts',
      'src/engine/changelog-restorer.ts',
    ],
  ],
  ['Test driver (`millrace/testing`)', ['src/testing/test-driver.ts', 'src/testing/test-topics.ts']],
]

const INDEXES = ['src/index.ts', 'src/testing/index.ts']

/** Not exported by name, but what others extend. */
const INHERITED = ['WindowedKStream']

/** The one mistake that the compiler finds without being able to name it. */
const MISSING_SERDES = `## A serde is missing

The compiler knows which serdes nobody has given, and asks for them at the step that writes bytes. What it says is
\`TS2554: Expected 2 arguments, but got 1\` (or \`Expected 3-4 arguments\`, or \`Arguments for the rest parameter 'serdes' were not provided\`):
the options of that step, its last argument, are no longer optional. Hover over the stream before the step: the third part of its type names
what is missing.

| the type says | write |
|---|---|
| \`KStream<string, number, 'no value serde'>\` | \`.to('totals', { value: long })\`, \`.groupByKey({ value: long })\`, \`.toTable({ value: json<Order>() })\` |
| \`KStream<string, Order, 'no key serde'>\` | \`.to('orders', { key: string })\`, \`.join(customers, joiner, { key: string })\` |
| \`KStream<string, Order, MissingSerde>\`: both | \`{ key: string, value: json<Order>() }\` |

The value loses its serde where it is computed (\`mapValues\`, \`map\`, \`flatMap\`, joins), the key where it is (\`selectKey\`, \`map\`,
\`flatMap\`); \`withSerdes({ value: long })\` right behind such a step names it once for all that follow. With an options object that lacks one
the message names it: \`Property 'value' is missing in type '{ key: Serde<string>; }'\`. \`builder.table(topic)\` has no serdes by itself
either: \`builder.table('customers', { key: string, value: json<Customer>() })\`.`

/** docs/dsl.md, from the doc comments of what the package exports. */
export function dslReference(): string {
  const exported = exportedNames()
  return `${[
    '# DSL reference',
    'Everything that builds, describes, runs and tests a topology in TypeScript. Generated from the doc comments in `src`; do not edit (`npm run docs`). How each operator reads in Java and in YAML is in `docs/migration.md`; the YAML keys are in `docs/configuration.md`.',
    MISSING_SERDES,
    ...CHAPTERS.flatMap(([title, files]) => [`## ${title}`, ...chapter(files, exported)]),
  ].join('\n\n')}\n`
}

function exportedNames(): ReadonlySet<string> {
  const lists = INDEXES.flatMap(file => [...readFileSync(file, 'utf8').matchAll(/\{([^}]*)\}/g)])
  return new Set([...INHERITED, ...lists.flatMap(([, names = '']) => names.split(',').map(name => name.trim()))])
}

function chapter(files: readonly string[], exported: ReadonlySet<string>): readonly string[] {
  const all = files.flatMap(file => declarationsOf(readFileSync(file, 'utf8')))
  return overloads(all.filter(({ name }) => exported.has(name))).flatMap(group => [
    `### ${group[0]?.name ?? ''}`,
    ...group.flatMap(declaration => [prose(declaration.doc), fenced(declaration.signature), ...members(declaration)]),
  ])
}

/** Properties as a list, methods one by one. */
function members({ members: all }: Declaration): readonly string[] {
  const properties = all
    .filter(isProperty)
    .map(({ doc, signature }) => `- \`${oneLine(signature)}\`: ${oneLine(prose(doc))}`)
  const methods = overloads(all.filter(member => !isProperty(member))).flatMap(group => [
    `#### ${group[0]?.name ?? ''}`,
    ...group.flatMap(({ doc, signature }) => [prose(doc), fenced(signature)]),
  ])
  return properties.length === 0 ? methods : [properties.join('\n'), ...methods]
}

function isProperty({ signature }: Declaration): boolean {
  return /^(?:readonly )?\w+\??: /.test(signature)
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ')
}

/** Neighbours of one name together. */
function overloads(declarations: readonly Declaration[]): readonly (readonly Declaration[])[] {
  const groups: Declaration[][] = []
  for (const declaration of declarations) {
    const last = groups.at(-1)
    if (last?.[0]?.name === declaration.name) last.push(declaration)
    else groups.push([declaration])
  }
  return groups
}

/** A doc comment as prose, its tags as words. */
function prose(doc: string): string {
  return doc
    .replaceAll(
      / ?@default ((?:(?!\. Kafka Streams:)[^\n])+)/g,
      (_, value: string) => ` Default: ${value.replace(/\.$/, '')}.`,
    )
    .replaceAll(/@throws ([^\n]+?)\.?$/gm, 'Throws $1.')
    .replaceAll(/^@param (\w+) - (.+)$/gm, '- `$1`: $2')
    .trim()
}

function fenced(signature: string): string {
  return `\`\`\`ts\n${signature}\n\`\`\``
}
