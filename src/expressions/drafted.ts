import { canDraft, JsonDraft } from '../serdes/json-draft.ts'
import { JsonFields } from '../serdes/json-fields.ts'
import type { Evaluate } from './compiled.ts'
import type { Template } from './expression.ts'

/**
 * As the template, giving a draft of the object, which is good until the next one; `undefined` where only an object will do.
 */
export function draftedTemplate({ names, parts }: Template): Evaluate | undefined {
  if (!canDraft(names)) return undefined
  const draft = new JsonDraft(names)
  const { values, texts } = draft
  const fields = parts.map(part => part.valueField)
  const evaluates = parts.map(part => part.evaluate)
  return scope => {
    const { value } = scope
    const source = value instanceof JsonFields ? value : undefined
    draft.source = source
    for (let at = 0; at < evaluates.length; at += 1) {
      const name = fields[at]
      const text = source === undefined || name === undefined ? -1 : source.unreadText(name)
      texts[at] = text
      values[at] = text < 0 ? evaluates[at]?.(scope) : undefined
    }
    return draft
  }
}
