import { json } from '../../../src/serdes/json.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import { boolean, double, integer, long } from '../../../src/serdes/numbers.ts'
import type { AnySerde } from '../../../src/serdes/serde.ts'
import { bytes, string } from '../../../src/serdes/text.ts'
import type { ValueType } from './operations.ts'
import { valueOf, takesTexts, type Step } from './plan.ts'

const BY_TYPE: Readonly<Record<ValueType, AnySerde>> = {
  text: nullable(string),
  long: nullable(long),
  integer: nullable(integer),
  double: nullable(double),
  boolean: nullable(boolean),
  bytes: nullable(bytes),
  json: nullable(json()),
}

/** The serdes of a stream whose values are of a type. */
export function serdesOf(type: ValueType): { readonly key: AnySerde; readonly value: AnySerde } {
  return { key: BY_TYPE.text, value: BY_TYPE[type] }
}

/** The type of the values in a topic that a topology writes: results of a stream as they are, those of a table as texts. */
export function valuesIn(topic: string, steps: readonly Step[]): ValueType {
  const step = steps[Number(/\d+/u.exec(topic)?.[0])]
  if (step === undefined) throw new RangeError(`${topic} is written by no step`)
  const [first] = step.inputs
  if (!topic.endsWith('-late') || first === undefined) return valueOf(step.shape)
  return takesTexts(step.operation, step.inputs) ? 'text' : valueOf(first.shape)
}
