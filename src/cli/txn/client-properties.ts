import { readFileSync } from 'node:fs'
import { MillraceError, reasonOf } from '../../model/errors.ts'

/** Properties of a client, by Kafka's names, as they go under `kafka:`. */
export type ClientProperties = Readonly<Record<string, string>>

/**
 * Reads the file that Kafka's own tools take as `--command-config`, and says what it says in our names: logins out of
 * `sasl.jaas.config`, PEM stores as `ssl.ca`, `ssl.cert` and `ssl.key`. What the configuration does not know is refused
 * there.
 *
 * @throws MillraceError `CONFIG_INVALID` for a file that cannot be read or holds something else, a store that is not PEM, or
 *   a login of another kind
 */
export function clientPropertiesOf(file: string): ClientProperties {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new MillraceError('CONFIG_INVALID', { cause, what: `${file} cannot be read: ${reasonOf(cause)}` })
  }
  const properties = parseProperties(text)
  for (const [name, value] of properties) {
    if (mayBeProperty(name, value)) continue
    // Its text is not shown: a key or a password file named by mistake would be printed.
    throw new MillraceError('CONFIG_INVALID', {
      what: `${file} holds something that is no property of a client.`,
      action: 'Name a file with lines such as security.protocol=SASL_SSL.',
    })
  }
  return translated(properties, file)
}

function mayBeProperty(name: string, value: string): boolean {
  return /^[a-z][a-z\d.]*$/.test(name) && (value !== '' || name.includes('.'))
}

/** Java's format of properties. Kafka: `java.util.Properties.load`. */
export function parseProperties(text: string): ReadonlyMap<string, string> {
  const properties = new Map<string, string>()
  for (const line of logicalLines(text)) {
    const [, name = '', value = ''] = /^((?:\\.|[^\s:=\\])*)\s*[:=]?\s*(.*)$/s.exec(line) ?? []
    properties.set(unescaped(name), unescaped(value))
  }
  return properties
}

/** Lines without comments and blanks, those that end with a backslash joined with the next. */
function logicalLines(text: string): readonly string[] {
  const lines: string[] = []
  let open: string | undefined
  for (const raw of text.split(/\r\n|\r|\n/)) {
    const line = raw.trimStart()
    if (open === undefined && (line === '' || line.startsWith('#') || line.startsWith('!'))) continue
    const whole = `${open ?? ''}${line}`
    const isContinued = /(?:^|[^\\])(?:\\\\)*\\$/.test(whole)
    open = isContinued ? whole.slice(0, -1) : undefined
    if (!isContinued) lines.push(whole)
  }
  return open === undefined ? lines : [...lines, open]
}

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' }

function unescaped(text: string): string {
  return text.replaceAll(
    /\\(?:u([\dA-Fa-f]{4})|(.))/gs,
    (_, code: string | undefined, character: string | undefined) =>
      code === undefined
        ? (ESCAPES[character ?? ''] ?? character ?? '')
        : String.fromCodePoint(Number.parseInt(code, 16)),
  )
}

/** Names of the JVM clients with the same in ours. */
const RENAMED: Readonly<Record<string, readonly string[]>> = {
  'ssl.truststore.location': ['ssl.ca'],
  'ssl.truststore.certificates': ['ssl.ca'],
  'ssl.keystore.location': ['ssl.cert', 'ssl.key'],
  'ssl.keystore.certificate.chain': ['ssl.cert'],
  'ssl.keystore.key': ['ssl.key'],
}
const STORE_TYPES = ['ssl.truststore.type', 'ssl.keystore.type'] as const

function translated(properties: ReadonlyMap<string, string>, file: string): ClientProperties {
  for (const name of STORE_TYPES) {
    const store = name.replace('.type', '')
    const isNeeded = properties.has(`${store}.location`)
    const type = properties.get(name)?.toUpperCase() ?? (isNeeded ? 'JKS' : 'PEM')
    if (type === 'PEM') continue
    throw new MillraceError('CONFIG_INVALID', {
      what: `${file}: ${store}.location is a ${type} store, and only PEM can be read.`,
      action: `Write ${name}=PEM and name a PEM file; keytool and openssl convert stores.`,
    })
  }
  const own = new Map<string, string>()
  for (const [name, value] of properties) {
    if (name === 'sasl.jaas.config') for (const [ours, text] of loginOf(value, file)) own.set(ours, text)
    else if (!STORE_TYPES.some(each => each === name)) for (const ours of RENAMED[name] ?? [name]) own.set(ours, value)
  }
  return Object.fromEntries(own)
}

/** One option after the other, so that none is found inside the quotes of another. */
const JAAS_OPTION = /([\w.]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([^\s;]+))/g

/** User and password of a login module. */
function loginOf(jaas: string, file: string): ReadonlyMap<string, string> {
  const options = new Map<string, string>()
  for (const [, name = '', double, single, plain = ''] of jaas.matchAll(JAAS_OPTION)) {
    options.set(name, (double ?? single ?? plain).replaceAll(/\\(.)/g, '$1'))
  }
  const [username, password] = [options.get('username'), options.get('password')]
  if (username === undefined || password === undefined || !/\.(?:Plain|Scram)LoginModule\b/.test(jaas)) {
    throw new MillraceError('CONFIG_INVALID', {
      what: `${file}: sasl.jaas.config names no user and password of a PlainLoginModule or ScramLoginModule.`,
      action: 'Logging in by PLAIN and SCRAM is supported; or write sasl.username and sasl.password.',
    })
  }
  return new Map([
    ['sasl.username', username],
    ['sasl.password', password],
  ])
}
