import { CheckedProperties } from './checked-properties.ts'
import type { MapEntry } from './config-node.ts'
import { Fields } from './fields.ts'
import type { MillraceConfig } from './millrace-config.ts'
import type { ProblemList } from './problems.ts'
import { readKafkaProperties, readStreamsProperties } from './property-block.ts'
import { checkPropertyRules } from './property-rules.ts'
import { Secret } from './secret.ts'
import { sourceFile } from './source-file.ts'

/** Checks the two property blocks of a configuration given as an object, as if it had been written in YAML. */
export function checkedProperties(config: MillraceConfig, problems: ProblemList): CheckedProperties {
  const streams = readStreamsProperties(fieldsOf(config.streams, 'streams', problems), problems)
  const kafka = readKafkaProperties(fieldsOf(config.kafka, 'kafka', problems), problems)
  const checked = new CheckedProperties(streams, kafka)
  checkPropertyRules(checked, problems)
  return checked
}

/** An object as if it stood in a file; messages show the block's name instead of a line. */
function fieldsOf(block: object, name: string, problems: ProblemList): Fields {
  const place = { file: sourceFile(`config.${name}`, ''), start: 0, end: 0 }
  const entries = new Map<string, MapEntry>()
  for (const [key, value] of Object.entries(block) as Iterable<[string, unknown]>) {
    if (value === undefined) continue
    const secret = value instanceof Secret
    if (!secret && typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      problems.add(undefined, `"${key}" of "${name}" is a text, a number or a boolean, not ${typeof value}`)
      continue
    }
    const text = secret ? value.reveal() : String(value)
    entries.set(key, {
      keyPlace: place,
      node: { kind: 'scalar', place, value: text, text, interpolated: secret, broken: false, verbatimStart: undefined },
    })
  }
  return new Fields({ kind: 'map', place, entries }, `"${name}"`, problems)
}
