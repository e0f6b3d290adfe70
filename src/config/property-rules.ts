import type { CheckedProperties } from './checked-properties.ts'
import type { ProblemList } from './problems.ts'
import type { Place } from './source-file.ts'

/** Where a property was written; `undefined` when it was not. */
export type PlaceOf = (name: string) => Place | undefined

/** Rules between properties. Each names both of them and what would go wrong. */
export function checkPropertyRules(
  properties: CheckedProperties,
  problems: ProblemList,
  placeOf: PlaceOf = () => undefined,
): void {
  checkTimes(properties, problems, placeOf)
  checkLogin(properties, problems, placeOf)
  checkTls(properties, problems, placeOf)
}

function checkTimes(properties: CheckedProperties, problems: ProblemList, placeOf: PlaceOf): void {
  const transactionMs = properties.number('kafka', 'transaction.timeout.ms')
  const isGuaranteeKnown = placeOf('processing.guarantee') === undefined || properties.isGiven('processing.guarantee')
  if (isGuaranteeKnown && properties.guarantee === 'exactly_once_v2' && properties.commitIntervalMs >= transactionMs) {
    problems.add(
      placeOf('commit.interval.ms') ?? placeOf('transaction.timeout.ms'),
      `commit.interval.ms (${String(properties.commitIntervalMs)}) is not below transaction.timeout.ms (${String(transactionMs)})`,
      'the broker would abort every transaction before its commit: lower the first or raise the second',
      'CONFIG_CONFLICT',
    )
  }
  const [heartbeatMs, sessionMs] = [
    properties.number('kafka', 'heartbeat.interval.ms'),
    properties.number('kafka', 'session.timeout.ms'),
  ]
  if (heartbeatMs >= sessionMs) {
    problems.add(
      placeOf('heartbeat.interval.ms') ?? placeOf('session.timeout.ms'),
      `heartbeat.interval.ms (${String(heartbeatMs)}) is not below session.timeout.ms (${String(sessionMs)})`,
      'the group would give the member up between two heartbeats; a third of it is usual',
      'CONFIG_CONFLICT',
    )
  }
  const [deliveryMs, requestMs] = [
    properties.number('kafka', 'delivery.timeout.ms'),
    properties.number('kafka', 'request.timeout.ms'),
  ]
  const lingerMs = properties.number('kafka', 'linger.ms')
  if (deliveryMs < requestMs + lingerMs) {
    problems.add(
      placeOf('delivery.timeout.ms') ?? placeOf('request.timeout.ms'),
      `delivery.timeout.ms (${String(deliveryMs)}) is below request.timeout.ms + linger.ms (${String(requestMs + lingerMs)})`,
      'a batch would be given up before its first answer',
      'CONFIG_CONFLICT',
    )
  }
}

function checkLogin(properties: CheckedProperties, problems: ProblemList, placeOf: PlaceOf): void {
  const written = properties.optional('security.protocol')
  // What was written and could not be read is told where it stands.
  if (written === undefined && placeOf('security.protocol') !== undefined) return
  const protocol = written ?? 'PLAINTEXT'
  const names = ['sasl.mechanism', 'sasl.username', 'sasl.password'] as const
  if (!protocol.startsWith('SASL')) {
    const given = names.find(name => properties.isGiven(name))
    if (given === undefined) return
    problems.add(
      placeOf(given),
      `"${given}" is given, but security.protocol is ${protocol}: nobody would log in`,
      'write security.protocol: SASL_SSL',
      'CONFIG_CONFLICT',
    )
    return
  }
  for (const name of names) {
    if (properties.isGiven(name) || placeOf(name) !== undefined) continue
    problems.add(
      placeOf('security.protocol'),
      `security.protocol is ${protocol}, but "${name}" is missing`,
      undefined,
      'CONFIG_CONFLICT',
    )
  }
  if (protocol !== 'SASL_PLAINTEXT') return
  const place = placeOf('security.protocol')
  if (properties.optional('sasl.mechanism') !== 'PLAIN') {
    problems.warn(place, 'SASL_PLAINTEXT sends every record readable over the network', 'write SASL_SSL')
  } else if (isLoopbackOnly(properties.text('kafka', 'bootstrap.servers'))) {
    problems.warn(place, 'SASL PLAIN without TLS sends the password readable', 'write SASL_SSL')
  } else {
    problems.add(
      place,
      'SASL PLAIN without TLS would send the password readable over the network',
      'write SASL_SSL, or a SCRAM mechanism',
      'CONFIG_CONFLICT',
    )
  }
}

function checkTls(properties: CheckedProperties, problems: ProblemList, placeOf: PlaceOf): void {
  const protocol = properties.optional('security.protocol') ?? 'PLAINTEXT'
  const given = ['ssl.ca', 'ssl.cert', 'ssl.key', 'ssl.key.password', 'ssl.server.name'].find(name =>
    properties.isGiven(name),
  )
  if (given !== undefined && protocol !== 'SSL' && protocol !== 'SASL_SSL') {
    const secured = protocol === 'SASL_PLAINTEXT' ? 'SASL_SSL' : 'SSL'
    problems.add(
      placeOf(given),
      `"${given}" is given, but security.protocol is ${protocol}: nothing would be encrypted`,
      `write security.protocol: ${secured}`,
      'CONFIG_CONFLICT',
    )
  }
  const [cert, key] = [properties.isGiven('ssl.cert'), properties.isGiven('ssl.key')]
  if (cert !== key) {
    const [one, other] = cert ? ['ssl.cert', 'ssl.key'] : ['ssl.key', 'ssl.cert']
    problems.add(placeOf(one), `"${one}" is given without "${other}"`, undefined, 'CONFIG_CONFLICT')
  }
}

function isLoopbackOnly(servers: string): boolean {
  return servers.split(',').every(server => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(server.trim()))
}
