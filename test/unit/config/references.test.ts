import { expect } from 'chai'
import { inspect } from 'node:util'
import { engineConfigOf } from '../../../src/config/engine-config.ts'
import { Secret } from '../../../src/config/secret.ts'
import { HEAD, loadYaml, messageOfYaml, problemsOfYaml } from './yaml-application.ts'

const LOGIN = `streams: { application.id: app }
kafka:
  bootstrap.servers: x
  security.protocol: SASL_SSL
  sasl.mechanism: PLAIN
  sasl.username: u
  sasl.password: `

describe('references in a configuration', () => {
  it('take what they give literally, whatever it holds', async () => {
    const password = "a#b\"$c: 1 ${HOME} 'x' $$"
    const { config } = await loadYaml(`${LOGIN}\${P}\nsources: {}\n`, { environment: { P: password } })
    expect(engineConfigOf(config).security.sasl?.password).to.equal(password)
  })

  it('read files without their last line break', async () => {
    const { config } = await loadYaml(`${LOGIN}\${file:test/unit/config/secret-fixture.txt}\nsources: {}\n`)
    expect(engineConfigOf(config).security.sasl?.password).to.equal('two\nlines')
  })

  it('know defaults, escapes and their place in comments', async () => {
    const { config } = await loadYaml(
      `streams: { application.id: "\${A:-x}-\${B:-}y\${E:-z}$$" } # \${NOT_SET}
kafka: { bootstrap.servers: x }
sources: {}
`.replace('$$"', '"'),
      { environment: { A: 'app', E: '' } },
    )
    expect(config.streams['application.id']).to.equal('app-yz')
  })

  it('are numbers where a number is expected, and text where a text is', async () => {
    const { config } = await loadYaml(
      `streams: { application.id: 0123, num.stream.threads: "\${N}" }
kafka: { bootstrap.servers: x }
sources: {}
`,
      { environment: { N: '3' } },
    )
    expect(config.streams['application.id']).to.equal('0123')
    expect(config.streams['num.stream.threads']).to.equal(3)
  })

  it('name variable, line and column when they cannot be resolved', async () => {
    expect(
      await problemsOfYaml(`streams:
  application.id: app-\${NOPE}
kafka:
  bootstrap.servers: "\${SERVERS:?the brokers}"
  sasl.password: \${file:/nowhere/at/all}
  client.id: \${9}
sources: {}
`),
    ).to.satisfy((problems: string[]) => {
      expect(problems.slice(0, 2)).to.deep.equal([
        '2:23 the environment variable NOPE is not set (set it, or give a default: ${NOPE:-…})',
        '4:23 the environment variable SERVERS is not set (the brokers)',
      ])
      expect(problems[2]).to.match(/^5:18 the file \/nowhere\/at\/all cannot be read/)
      expect(problems[3]).to.match(/^6:14 "\$\{9\}" is no reference/)
      return problems.length === 4
    })
  })

  it('do not hide the other mistakes of the file', async () => {
    expect(
      await problemsOfYaml(
        `streams: { application.id: app, comit.interval.ms: 5 }
kafka:
  bootstrap.servers: "\${SERVERS}"
  security.protocol: "\${PROTOCOL}"
  sasl.mechanism: "\${MECHANISM}"
  sasl.username: "\${USER}"
  sasl.password: "\${PASSWORD}"
sources:
  orders: { topic: "\${TOPIC}", key: string, value: json }
  other: { topic: "\${TOPIC}", as: table, key: "\${SERDE}", value: json }
steps:
  joined: { from: orders, join: { with: other, value: left } }
  paid: { from: orders, filtr: value.paid }
sinks:
  out: { from: joined, topic: "\${OUT}" }
errors: { processing: deadLetter, deadLetterTopic: "\${DEAD}" }
`,
        { environment: {} },
      ),
    ).to.satisfy((problems: string[]) => {
      const others = problems.filter(problem => !problem.includes('is not set'))
      expect(others[0]).to.match(/^1:33 unknown property "comit.interval.ms"/)
      expect(others[1]).to.match(/^13:25 unknown key "filtr" in step "paid"/)
      expect(others).to.have.length(2)
      return problems.length === 12
    })
  })

  it('leave out rules between properties that they decide', async () => {
    for (const [protocol, guarantee, password] of [
      ['${X}', 'exactly_once_v2', 'p'],
      ['SASL_SSL', '${X}', 'p'],
      ['SASL_SSL', 'exactly_once_v2', '${X}'],
    ]) {
      const interval = guarantee === '${X}' ? 20_000 : 100
      const yaml = `streams: { application.id: app, processing.guarantee: "${guarantee}", commit.interval.ms: ${String(interval)} }
kafka: { bootstrap.servers: x, security.protocol: "${protocol}", sasl.mechanism: PLAIN, sasl.username: u, sasl.password: "${password}" }
sources: {}
`
      const problems = await problemsOfYaml(yaml, { environment: {} })
      expect(problems).to.have.length(1)
      expect(problems[0]).to.match(/the environment variable X is not set/)
    }
  })

  it('are no mistake twice: what could not be resolved is not checked further', async () => {
    expect(
      await problemsOfYaml(
        `streams: { application.id: app, num.stream.threads: "\${N}" }\nkafka: { bootstrap.servers: x }\nsources: {}\n`,
      ),
    ).to.deep.equal(['1:54 the environment variable N is not set (set it, or give a default: ${N:-…})'])
  })
})

describe('several files', () => {
  it('merge left to right, maps key by key; --set wins; null removes', async () => {
    const { config } = await loadYaml(
      [
        `${HEAD}sources: { a: { topic: t1 } }\nhttp: { host: h, port: 1 }\nerrors: { processing: skip }\n`,
        `streams: { num.stream.threads: 2, commit.interval.ms: 50 }\nsources: { b: { topic: t2 } }\nhttp: { port: 2 }\nerrors: ~\n`,
      ],
      { overrides: ['streams.num.stream.threads=4', 'http.host=0.0.0.0', 'kafka.client.id='.concat('me')] },
    )
    expect(config.streams).to.deep.equal({ 'application.id': 'app', 'num.stream.threads': 4, 'commit.interval.ms': 50 })
    expect(config.http).to.deep.equal({ host: '0.0.0.0', port: 2 })
    expect(config.errors).to.equal(undefined)
    expect(engineConfigOf(config).clientId).to.equal('me')
  })

  it('show mistakes in the file they are in, overrides too', async () => {
    const message = await messageOfYaml([`${HEAD}sources: {}\n`, 'streams:\n  nmu.stream.threads: 1\n'], {
      overrides: ['http.prot=1'],
    })
    expect(message).to.contain('file2.yaml:2:3  unknown property "nmu.stream.threads"')
    expect(message).to.contain('--set http.prot:1:1  unknown key "prot" in "http"')
  })

  it('say what an override has to look like', async () => {
    expect(await problemsOfYaml(HEAD, { overrides: ['nonsense'] })).to.deep.equal([
      '1:1 --set nonsense is not path=value (such as --set streams.num.stream.threads=2)',
    ])
  })

  it('say that a reference inside braces stands in quotes', async () => {
    const problems = await problemsOfYaml('streams: { application.id: ${A} }\n')
    expect(problems).to.have.lengthOf(1)
    expect(problems[0]).to.contain('inside { } a reference stands in quotes')
  })
})

describe('secrets', () => {
  it('print as *** everywhere, and are there when asked for', () => {
    const secret = new Secret('hunter2')
    expect(
      `${String(secret)} ${JSON.stringify({ secret })} ${inspect({ secret })} ${inspect([secret], { depth: 9 })}`,
    ).not.to.contain('hunter2')
    expect(secret.reveal()).to.equal('hunter2')
  })

  it('show neither in the configuration nor in that of the engine', async () => {
    const { config } = await loadYaml(`${LOGIN}hunter2\nsources: {}\n`)
    const engine = engineConfigOf(config)
    for (const shown of [config, engine]) {
      expect(JSON.stringify(shown)).not.to.contain('hunter2')
      expect(inspect(shown, { depth: 20 })).not.to.contain('hunter2')
    }
    expect(engine.security.sasl?.password).to.equal('hunter2')
  })

  it('do not show in the message about a value of the wrong kind', async () => {
    const problems = await problemsOfYaml(`${HEAD}sources: {}\nhttp: { port: "\${P}" }\n`, {
      environment: { P: 'hunter2' },
    })
    expect(problems.join()).to.contain('what the reference gives').and.not.to.contain('hunter2')
  })
})
