import { expect } from 'chai'
import { LOCAL_USERS } from '../../../src/local-kafka/options.ts'
import { useBroker } from '../../support/broker.ts'
import { faultFired } from '../../support/fault-count.ts'
import { sharedJavaClient } from '../../support/java-client.ts'
import type { MillraceProcess } from '../../support/millrace-process.ts'
import { type ApplicationText, Stage, yamlOf } from '../faults/stage.ts'

const WAIT_MS = 60_000
const PRINCIPAL = `User:${LOCAL_USERS.application.username}`

type Lacking = readonly [type: Right[0], name: string, operation: string]
type Right = readonly [type: 'TOPIC' | 'GROUP' | 'TRANSACTIONAL_ID', name: string, operations: readonly string[]]

/** Counts values over a repartition topic, with a dead-letter topic. */
const flowOf = (application: ApplicationText): string =>
  yamlOf(application, [
    'steps:',
    '  counts: { from: in0, groupBy: value, count: {} }',
    'sinks:',
    `  out: { from: counts, topic: ${application.output} }`,
    `errors: { deserialization: deadLetter, deadLetterTopic: ${application.output}-dead }`,
  ])

/** What docs and design list as the minimum, each topic by its name. */
const rightsOf = ({ id, inputs, output }: ApplicationText): readonly Right[] => [
  ...inputs.map((input): Right => ['TOPIC', input, ['READ']]),
  ['TOPIC', output, ['WRITE']],
  ['TOPIC', `${output}-dead`, ['WRITE']],
  ['TOPIC', `${id}-counts-changelog`, ['READ', 'WRITE', 'DESCRIBE_CONFIGS']],
  ['TOPIC', `${id}-counts-repartition`, ['READ', 'WRITE', 'DELETE']],
  ['GROUP', id, ['READ']],
  ['TRANSACTIONAL_ID', `${id}-`, ['WRITE']],
]

describe('an application with the rights it needs and no others', function () {
  this.timeout(120_000)
  const kafka = useBroker('secure')
  let stage: Stage

  beforeEach(async () => {
    stage = await Stage.open(kafka())
  })
  afterEach(() => stage.close())

  /** The application as its user comes in: by TLS, with SCRAM. */
  const secured = (application: ApplicationText, password = 'PASSWORD'): string =>
    flowOf({
      ...application,
      servers: kafka().bootstrapServers,
      streams: ['topics.create: false', 'repartition.purge.interval.ms: 100'],
      kafka: [
        'session.timeout.ms: 6000',
        'heartbeat.interval.ms: 1000',
        'security.protocol: SASL_SSL',
        'sasl.mechanism: SCRAM-SHA-512',
        `sasl.username: ${LOCAL_USERS.application.username}`,
        `sasl.password: \${${password}}`,
        `ssl.ca: ${JSON.stringify(kafka().ca)}`,
      ],
    })

  const start = (yaml: string): Promise<MillraceProcess> =>
    stage.start(yaml, { env: { PASSWORD: LOCAL_USERS.application.password } })

  const allow = async (rights: readonly Right[]): Promise<void> => {
    const client = await sharedJavaClient(kafka().internalBootstrapServers)
    for (const [type, name, operations] of rights) {
      const pattern = type === 'TRANSACTIONAL_ID' ? 'PREFIXED' : 'LITERAL'
      await client.command(['allow', PRINCIPAL, type, name, pattern, ...operations])
    }
  }

  /** An application whose topics an administrator has made by a first start, with one record processed. */
  const prepared = async (on = stage): Promise<ApplicationText> => {
    const application = { ...on.names(), inputs: [await on.topic()] }
    const [input = ''] = application.inputs
    const byAdministrator = await on.start(flowOf(application))
    await byAdministrator.untilLine('the application is running', WAIT_MS)
    await on.write(input, [{ key: 'k', value: 'x' }])
    await on.settled(application.id, [input, `${application.id}-counts-repartition`])
    expect((await byAdministrator.terminate()).code).to.equal(0)
    return application
  }

  it('restores, counts, writes dead letters and purges over TLS with SCRAM', async () => {
    const application = await prepared()
    const [input = ''] = application.inputs
    await allow(rightsOf(application))
    const process = await start(secured(application))
    await process.untilLine('the application is running', WAIT_MS)
    await stage.write(input, [
      { key: 'k', value: 'x' },
      { key: 'k', value: null },
      { key: 'k', value: 'x' },
    ])
    await stage.settled(application.id, [input, `${application.id}-counts-repartition`])
    const counts = await stage.read(application.output)
    expect(counts.map(({ value }) => Number(value?.readBigInt64BE(0)))).to.deep.equal([1, 2, 3])
    expect(await stage.read(`${application.output}-dead`)).to.have.length(1)
    expect((await process.terminate()).code).to.equal(0)
    const warned = process.log.filter(({ level }) => level === 'warn' || level === 'error').map(({ msg }) => msg)
    expect(warned, 'the dead letter alone').to.deep.equal(['a record failed'])
  })

  it('still sees that a changelog would be deleted by age, though it may not look at the other topics', async () => {
    const application = await prepared()
    await allow(rightsOf(application))
    const changelog = `${application.id}-counts-changelog`
    await stage.admin.alterConfigs({ type: 'topic', name: changelog }, { set: { 'cleanup.policy': 'delete' } })
    const process = await start(secured(application))
    expect((await process.untilExit(WAIT_MS)).code).to.equal(78)
    expect(process.lines.join('\n')).to.include('TOPIC_MISMATCH').and.to.include(changelog)
  })

  describe('or one right less', () => {
    let application: ApplicationText

    before(async function () {
      this.timeout(120_000)
      const shared = await Stage.open(kafka())
      application = await prepared(shared)
      await shared.close()
      await allow(rightsOf(application))
    })

    /** Starts it without one right and with something to do, until `seen` resolves; then the right is given back. */
    const without = async (
      [type, name, operation]: Lacking,
      seen: (process: MillraceProcess) => Promise<unknown>,
    ): Promise<string> => {
      const client = await sharedJavaClient(stage.servers)
      await client.command(['disallow', PRINCIPAL, type, name, operation])
      try {
        const process = await start(secured(application))
        await stage.write(application.inputs[0] ?? '', [
          { key: 'k', value: 'x' },
          { key: 'k', value: null },
        ])
        await seen(process)
        await process.terminate()
        return process.lines.join('\n')
      } finally {
        await allow([[type, name, [operation]]])
      }
    }

    const NEEDED = [
      { operation: 'Read', right: 'READ', type: 'TOPIC', resource: 'topic', of: 'input' },
      { operation: 'Write', right: 'WRITE', type: 'TOPIC', resource: 'topic', of: 'output' },
      { operation: 'Write', right: 'WRITE', type: 'TOPIC', resource: 'topic', of: 'dead' },
      { operation: 'Read', right: 'READ', type: 'TOPIC', resource: 'topic', of: 'changelog' },
      { operation: 'Write', right: 'WRITE', type: 'TOPIC', resource: 'topic', of: 'changelog' },
      { operation: 'Read', right: 'READ', type: 'TOPIC', resource: 'topic', of: 'repartition' },
      { operation: 'Write', right: 'WRITE', type: 'TOPIC', resource: 'topic', of: 'repartition' },
      { operation: 'Read', right: 'READ', type: 'GROUP', resource: 'group', of: 'group' },
      { operation: 'Write', right: 'WRITE', type: 'TRANSACTIONAL_ID', resource: 'transactional id', of: 'ids' },
    ] as const

    const nameOf = (of: (typeof NEEDED)[number]['of']): string => {
      const { id, output, inputs } = application
      const names = {
        input: inputs[0] ?? '',
        output,
        dead: `${output}-dead`,
        changelog: `${id}-counts-changelog`,
        repartition: `${id}-counts-repartition`,
        group: id,
        ids: `${id}-`,
      }
      return names[of]
    }

    for (const { operation, right, type, resource, of } of NEEDED) {
      it(`ends with 77 and names principal, resource and operation: ${operation} on the ${resource} (${of}) (F38)`, async () => {
        const said = await without([type, nameOf(of), right], async process => {
          expect((await process.untilExit(WAIT_MS)).code).to.equal(77)
          await process.untilLine(/^ {2}code +NOT_AUTHORIZED/, WAIT_MS)
        })
        const block = said.slice(said.lastIndexOf('\nerror: '))
        expect(block).to.match(new RegExp(`^ {2}what to do +Grant .*\\b${operation}\\b.* on the ${resource}`, 'm'))
        expect(block).to.include(`The principal is ${PRINCIPAL}.`).and.to.include(nameOf(of))
        const lags = await Promise.all(
          [nameOf('input'), nameOf('repartition')].map(topic => stage.lagOf(application.id, topic)),
        )
        expect(Math.max(...lags), 'what it could not do is not passed over').to.be.greaterThan(0)
        faultFired('F38', said.split('NOT_AUTHORIZED').length - 1, `stops without ${operation} on the ${resource}`)
        const open = await stage.admin.listTransactions({ states: ['Ongoing'] })
        expect(open.filter(({ transactionalId }) => transactionalId.startsWith(application.id))).to.deep.equal([])
      })
    }

    for (const { right, of, warned } of [
      { right: 'DELETE', of: 'repartition', warned: 'could not be deleted; tried again later' },
      { right: 'DESCRIBE_CONFIGS', of: 'changelog', warned: undefined },
    ] as const) {
      it(`runs without ${right} on the ${of} topic, as documented`, async () => {
        const said = await without(['TOPIC', nameOf(of), right], async process => {
          await process.untilLine('the application is running', WAIT_MS)
          await stage.settled(application.id, [nameOf('input'), nameOf('repartition')])
          if (warned !== undefined) await process.untilLine(warned, WAIT_MS)
        })
        expect(said, 'it goes on to its end').to.include('the application is closed')
      })
    }
  })
})
