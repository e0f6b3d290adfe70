import { expect } from 'chai'
import { brokerProperties, type NodePlace } from '../../../src/local-kafka/broker-properties.ts'
import { resolveOptions, type LocalKafkaOptions } from '../../../src/local-kafka/options.ts'

const places: NodePlace[] = [1, 2, 3].map(id => ({
  id,
  clientPort: 20_000 + id,
  internalPort: 21_000 + id,
  controllerPort: 22_000 + id,
  dataFolder: `/data/${String(id)}`,
}))

function propertiesOf(options: LocalKafkaOptions, nodes: readonly NodePlace[]): Map<string, string> {
  const [node] = nodes
  if (node === undefined) throw new Error('a node is needed')
  const tls = options.security === 'sasl_ssl' ? { keyStore: '/tls/broker.pem', trustStore: '/tls/ca.pem' } : undefined
  const text = brokerProperties(resolveOptions(options), nodes, node, tls)
  return new Map(
    text
      .trimEnd()
      .split('\n')
      .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}

describe('broker properties', () => {
  it('listen on the loopback interface only', () => {
    for (const options of [{}, { security: 'sasl_ssl' }] as const) {
      const listeners = propertiesOf(options, places.slice(0, 1)).get('listeners')?.split(',') ?? []
      expect(listeners).to.have.length.greaterThan(1)
      for (const listener of listeners) expect(listener).to.match(/:\/\/127\.0\.0\.1:\d+$/)
    }
  })

  it('keep three copies with two in sync on three nodes, one copy on one', () => {
    const three = propertiesOf({ nodes: 3 }, places)
    expect(three.get('transaction.state.log.replication.factor')).to.equal('3')
    expect(three.get('min.insync.replicas')).to.equal('2')
    expect(three.get('controller.quorum.voters')).to.equal('1@127.0.0.1:22001,2@127.0.0.1:22002,3@127.0.0.1:22003')
    expect(propertiesOf({}, places.slice(0, 1)).get('transaction.state.log.replication.factor')).to.equal('1')
  })

  it('shorten the waits of zombie tests only where asked for', () => {
    expect(propertiesOf({ test: true }, places.slice(0, 1)).get('group.min.session.timeout.ms')).to.equal('1000')
    expect(propertiesOf({}, places.slice(0, 1)).has('group.min.session.timeout.ms')).to.equal(false)
  })

  it('let the given properties win', () => {
    const properties = propertiesOf({ properties: { 'num.io.threads': '9' } }, places.slice(0, 1))
    expect(properties.get('num.io.threads')).to.equal('9')
  })

  it('let clients in by TLS and SASL alone when security is asked for', () => {
    const properties = propertiesOf({ security: 'sasl_ssl', acl: true }, places.slice(0, 1))
    expect(properties.get('listener.security.protocol.map')).to.include('CLIENT:SASL_SSL')
    expect(properties.get('inter.broker.listener.name')).to.equal('INTERNAL')
    expect(properties.get('allow.everyone.if.no.acl.found')).to.equal('false')
  })
})
