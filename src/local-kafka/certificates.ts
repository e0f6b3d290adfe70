import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TlsFiles } from './broker-properties.ts'
import { runCommand } from './command.ts'
import { unavailable } from './unavailable.ts'

/** Throw-away certificates of one local Kafka. */
export interface Certificates {
  readonly broker: TlsFiles
  /** Certificate of the authority, PEM: what a client trusts. */
  readonly ca: string
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
const VALID = ['-days', '30']

/**
 * Makes an authority and a broker's certificate for `localhost` and 127.0.0.1 by openssl, in the form Kafka's PEM key
 * stores want.
 *
 * @throws LOCAL_KAFKA_UNAVAILABLE without a working openssl
 */
export async function makeCertificates(folder: string): Promise<Certificates> {
  const file = (name: string): string => join(folder, name)
  await writeFile(file('names.cnf'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
  await openssl(folder, [
    'req',
    '-x509',
    ...NEW_KEY,
    ...VALID,
    '-subj',
    '/CN=millrace local authority',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  ])
  await openssl(folder, ['req', ...NEW_KEY, '-subj', '/CN=localhost', '-keyout', 'broker.key', '-out', 'broker.csr'])
  await openssl(folder, [
    'x509',
    '-req',
    ...VALID,
    '-in',
    'broker.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-extfile',
    'names.cnf',
    '-out',
    'broker.crt',
  ])
  await openssl(folder, ['pkcs8', '-topk8', '-nocrypt', '-in', 'broker.key', '-out', 'broker.pk8'])
  const [key, certificate, ca] = await Promise.all(
    ['broker.pk8', 'broker.crt', 'ca.pem'].map(name => readFile(file(name), 'utf8')),
  )
  await writeFile(file('broker.pem'), `${key ?? ''}${certificate ?? ''}`)
  return { broker: { keyStore: file('broker.pem'), trustStore: file('ca.pem') }, ca: ca ?? '' }
}

async function openssl(folder: string, args: readonly string[]): Promise<void> {
  const { exitCode, output } = await runCommand('openssl', args, { timeoutMs: 30_000, cwd: folder })
  if (exitCode !== 0) throw unavailable(`openssl could not make the certificates of a TLS listener: ${output}`)
}
