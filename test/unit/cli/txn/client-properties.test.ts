import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientPropertiesOf, parseProperties } from '../../../../src/cli/txn/client-properties.ts'

describe('properties of a client', () => {
  let folder = ''

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-properties-'))
  })

  after(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  const read = (...lines: string[]): Readonly<Record<string, string>> => {
    const file = join(folder, 'client.properties')
    writeFileSync(file, lines.join('\n'))
    return clientPropertiesOf(file)
  }

  it('are read as Java reads them: separators, comments, escapes, long lines', () => {
    const text = [
      '# a comment',
      '  ! another',
      '',
      'a=1',
      'b : 2 ',
      'c 3',
      String.raw`d\:e = x\ty`,
      'empty',
      'long = one, \\',
      '       two, \\',
      '       three',
      String.raw`back = a\\`,
      String.raw`letter = \u00e4`,
      'a=again',
    ].join('\r\n')
    expect([...parseProperties(text)]).to.deep.equal([
      ['a', 'again'],
      ['b', '2 '],
      ['c', '3'],
      ['d:e', 'x\ty'],
      ['empty', ''],
      ['long', 'one, two, three'],
      ['back', 'a\\'],
      ['letter', 'ä'],
    ])
  })

  it('come out in our names: the login of a module, stores of PEM', () => {
    expect(
      read(
        'security.protocol=SASL_SSL',
        'sasl.mechanism=SCRAM-SHA-512',
        'sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\',
        '  username="alice" \\',
        '  password="p=a ss;";',
        'ssl.truststore.type=PEM',
        'ssl.truststore.location=/etc/ca.pem',
        'ssl.keystore.type=pem',
        'ssl.keystore.location=/etc/client.pem',
        'request.timeout.ms=5000',
      ),
    ).to.deep.equal({
      'security.protocol': 'SASL_SSL',
      'sasl.mechanism': 'SCRAM-SHA-512',
      'sasl.username': 'alice',
      'sasl.password': 'p=a ss;',
      'ssl.ca': '/etc/ca.pem',
      'ssl.cert': '/etc/client.pem',
      'ssl.key': '/etc/client.pem',
      'request.timeout.ms': '5000',
    })
    expect(
      read(
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username='bob' password=x;",
      ),
    ).to.deep.equal({ 'sasl.username': 'bob', 'sasl.password': 'x' })
  })

  it('find no option inside the quotes of another', () => {
    const properties = read(
      'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required password="x username=eve" username="bob";',
    )
    expect(properties).to.include({ 'sasl.username': 'bob', 'sasl.password': 'x username=eve' })
  })

  it('refuse what cannot be understood, and name no secret', () => {
    expect(() => read('ssl.truststore.location=/etc/trust.jks')).to.throw(/is a JKS store, and only PEM can be read/)
    expect(() => read('ssl.keystore.type=PKCS12', 'ssl.keystore.location=/etc/key.p12')).to.throw(/is a PKCS12 store/)
    expect(() =>
      read('sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required password="hidden";'),
    ).to.throw(/^(?!.*hidden).*names no user and password/)
    expect(() => clientPropertiesOf(join(folder, 'missing.properties'))).to.throw(/cannot be read/)
  })

  it('are not looked for in a key or a password, which is not shown', () => {
    const key = ['-----BEGIN PRIVATE KEY-----', 'aGlkZGVu', 'aGlkZGVu==', '-----END PRIVATE KEY-----']
    for (const lines of [key, key.slice(1), ['hidden'], ['aGlkZGVu==']]) {
      expect(() => read(...lines), lines.join()).to.throw(/^(?!.*(?:hidden|aGlkZGVu)).*no property of a client/)
    }
    expect(read('ssl.endpoint.identification.algorithm=')).to.deep.equal({
      'ssl.endpoint.identification.algorithm': '',
    })
  })
})
