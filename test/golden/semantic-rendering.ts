import { long } from '../../src/serdes/numbers.ts'
import { string } from '../../src/serdes/text.ts'
import { sessionWindowed, timeWindowed } from '../../src/serdes/windowed.ts'
import { NO_HEADERS } from '../../src/model/headers.ts'
import type { Rendered } from './semantic-case.ts'

/** A key in the form a golden file names. */
export function renderKey(bytes: Buffer | null, form: string): Rendered {
  const [kind, size] = form.split(':')
  const context = { topic: '', side: 'key' as const, headers: NO_HEADERS }
  if (bytes !== null && kind === 'timeWindowed') return timeWindowed(string, Number(size)).deserialize(bytes, context)
  if (bytes !== null && kind === 'sessionWindowed') return sessionWindowed(string).deserialize(bytes, context)
  return render(bytes, form, 'key')
}

/** A value in the form a golden file names. */
export function renderValue(bytes: Buffer | null, form: string): Rendered {
  return render(bytes, form, 'value')
}

function render(bytes: Buffer | null, form: string, side: 'key' | 'value'): Rendered {
  if (bytes === null) return null
  switch (form) {
    case 'string':
      return bytes.toString('utf8')
    case 'long':
      return long.deserialize(bytes, { topic: '', side, headers: NO_HEADERS })
    default:
      throw new Error(`no rendering of ${form} is written`)
  }
}
