const TEXT_CHARACTERS_MAX = 2_000
const CONTROL_CHARACTERS = /[\p{Cc}\u2028\u2029]/gu

/** A text for one line of a log, bounded: a forged line break in a topic name or a broker's message must not look like a line of its own. */
export function oneLine(text: string): string {
  const escaped = text.replaceAll(CONTROL_CHARACTERS, escapeCharacter)
  return escaped.length > TEXT_CHARACTERS_MAX ? `${escaped.slice(0, TEXT_CHARACTERS_MAX)}…` : escaped
}

function escapeCharacter(character: string): string {
  if (character === '\n') return String.raw`\n`
  if (character === '\r') return String.raw`\r`
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}
