import { expect } from 'chai'
import { LOCAL_USERS } from '../../../src/local-kafka/options.ts'
import { useBroker } from '../../support/broker.ts'
import { sharedJavaClient } from '../../support/java-client.ts'
import type { MillraceProcess } from '../../support/millrace-process.ts'
import { type ApplicationText, Stage, yamlOf } from './stage.ts'

const WAIT_MS = 60_000
const PRINCIPAL = `User:${LOCAL_USERS.application.username}`

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
    const client = await sharedJavaClient(stage.servers)
    for (const [type, name, operations] of rights) {
      const pattern = type === 'TRANSACTIONAL_ID' ? 'PREFIXED' : 'LITERAL'
      await client.command(['allow', PRINCIPAL, type, name, pattern, ...operations])
    }
  }

  /** An application whose topics an administrator has made by a first start, with one record processed. */
  const prepared = async (): Promise<ApplicationText> => {
    const application = { ...stage.names(), inputs: [await stage.topic()] }
    const [input = ''] = application.inputs
    const byAdministrator = await stage.start(flowOf(application))
    await byAdministrator.untilLine('the application is running', WAIT_MS)
    await stage.write(input, [{ key: 'k', value: 'x' }])
    await stage.settled(application.id, [input, `${application.id}-counts-repartition`])
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
    const warned = process.log.filter(({ level }) => level === 'warn' || level === 'error').map(({ msg }) => msg)
    expect(warned, 'the dead letter alone').to.deep.equal(['a record failed'])
    expect((await process.terminate()).code).to.equal(0)
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

  for (const { lacking, names } of [
    { lacking: 'TRANSACTIONAL_ID', names: /transactional id/i },
    { lacking: 'GROUP', names: /group/i },
  ] as const) {
    it(`ends with 77 and names what it may not use without the right on the ${lacking} (F38)`, async () => {
      const application = await prepared()
      await allow(rightsOf(application).filter(([type]) => type !== lacking))
      const process = await start(secured(application))
      expect((await process.untilExit(WAIT_MS)).code).to.equal(77)
      const text = process.lines.join('\n')
      expect(text).to.include('NOT_AUTHORIZED').and.to.include(application.id).and.to.match(names)
    })
  }

  it('ends with 77 and names the output topic that it may not write, and commits nothing (F38)', async () => {
    const application = await prepared()
    const [input = ''] = application.inputs
    await allow(rightsOf(application).filter(([, name]) => name !== application.output))
    const process = await start(secured(application))
    await stage.write(input, [{ key: 'k', value: 'x' }])
    expect((await process.untilExit(WAIT_MS)).code).to.equal(77)
    expect(process.lines.join('\n')).to.include('NOT_AUTHORIZED').and.to.include(application.output)
    expect(await stage.read(application.output)).to.have.length(1)
  })
})
