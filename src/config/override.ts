import type { ConfigNode } from './config-node.ts'
import type { ProblemList } from './problems.ts'
import { sourceFile } from './source-file.ts'
import { FORBIDDEN_KEYS, parseYaml } from './yaml-tree.ts'

/** Blocks whose keys contain dots: what follows them is one name. */
const PROPERTY_BLOCKS: ReadonlySet<string> = new Set(['streams', 'kafka'])

/** The tree that a `--set path=value` stands for; its value is read as YAML, its references are the shell's business. */
export function overrideNode(override: string, problems: ProblemList): ConfigNode | undefined {
  const equals = override.indexOf('=')
  const path = override.slice(0, Math.max(equals, 0))
  const keys = keysOf(path)
  // Its value is on the command line already, and may be a secret: messages show the path alone.
  const file = sourceFile(`--set ${path}`, override.slice(equals + 1), 'concealed')
  const place = { file, start: 0, end: Math.max(1, file.text.length) }
  if (equals < 1 || keys.some(key => key === '' || FORBIDDEN_KEYS.has(key))) {
    // Not the whole of it: its value may be a secret.
    const shown = /^[\w.-]*/.exec(override)?.[0] ?? ''
    problems.addUnreadable(place, `--set ${shown} is not path=value`, 'such as --set streams.num.stream.threads=2')
    return undefined
  }
  const value: ConfigNode | undefined =
    file.text === ''
      ? { kind: 'scalar', place, value: '', text: '', interpolated: false, broken: false, verbatimStart: 0 }
      : parseYaml(file, undefined, problems)
  return keys.reduceRight<ConfigNode | undefined>(
    (node, key) =>
      node === undefined ? undefined : { kind: 'map', place, entries: new Map([[key, { keyPlace: place, node }]]) },
    value,
  )
}

function keysOf(path: string): readonly string[] {
  const [block, ...rest] = path.split('.')
  if (block !== undefined && PROPERTY_BLOCKS.has(block)) return [block, rest.join('.')]
  return path.split('.')
}
