/** Where interpolated values come from. */
export interface InterpolationSources {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The text of a file. @throws when it cannot be read */
  readonly readFile: (path: string) => string
}

/** The text with its references resolved, or what is wrong with the first one that cannot be. */
export type Interpolated =
  | { readonly text: string; readonly references: number }
  | { readonly problem: string; readonly hint: string | undefined; readonly start: number; readonly end: number }

const REFERENCE = /\$\$|\$\{/g
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?:(:-|:\?)([\s\S]*))?$/

/**
 * Resolves `${VAR}`, `${VAR:-default}`, `${VAR:?message}`, `${file:/path}` and `$$` in one scalar. What is inserted is
 * taken as it is: `#`, quotes, colons and further `${` in it mean nothing, because YAML has been parsed already.
 */
export function interpolate(text: string, sources: InterpolationSources): Interpolated {
  if (!text.includes('$')) return { text, references: 0 }
  let result = ''
  let references = 0
  let at = 0
  for (let match = find(text, at); match !== null; match = find(text, at)) {
    result += text.slice(at, match.index)
    if (match[0] === '$$') {
      result += '$'
      at = match.index + 2
      continue
    }
    const end = text.indexOf('}', match.index)
    const span = { start: match.index, end: end < 0 ? text.length : end + 1 }
    if (end < 0) return { problem: '"${" without its "}"', hint: 'write $$ for a dollar sign', ...span }
    const resolved = resolve(text.slice(match.index + 2, end), sources)
    if (typeof resolved !== 'string') return { ...resolved, ...span }
    result += resolved
    references++
    at = end + 1
  }
  return { text: result + text.slice(at), references }
}

function find(text: string, from: number): RegExpExecArray | null {
  REFERENCE.lastIndex = from
  return REFERENCE.exec(text)
}

type Unresolved = { readonly problem: string; readonly hint: string | undefined }

function resolve(reference: string, sources: InterpolationSources): string | Unresolved {
  if (reference.startsWith('file:')) return resolveFile(reference.slice('file:'.length), sources)
  const match = VARIABLE.exec(reference)
  const name = match?.[1]
  if (name === undefined) {
    return {
      problem: `"\${${reference}}" is no reference`,
      hint: 'write ${NAME}, ${NAME:-default}, ${NAME:?message} or ${file:/path}; $$ for a dollar sign',
    }
  }
  const value = Object.hasOwn(sources.environment, name) ? sources.environment[name] : undefined
  const [operator, rest] = [match?.[2], match?.[3] ?? '']
  // As in a shell, the colon forms treat an empty variable as one that is not set.
  if (operator === ':-') return value === undefined || value === '' ? rest : value
  if (operator === ':?' && (value === undefined || value === '')) {
    return {
      problem: `the environment variable ${name} is not set`,
      hint: rest === '' ? undefined : rest,
    }
  }
  if (value !== undefined) return value
  return { problem: `the environment variable ${name} is not set`, hint: `set it, or give a default: \${${name}:-…}` }
}

function resolveFile(path: string, sources: InterpolationSources): string | Unresolved {
  if (path === '') return { problem: '"${file:}" names no file', hint: 'write ${file:/run/secrets/name}' }
  try {
    return sources.readFile(path).replace(/\r?\n$/, '')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { problem: `the file ${path} cannot be read: ${reason}`, hint: undefined }
  }
}
