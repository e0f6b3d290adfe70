import { expect } from 'chai'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { CommandCapture } from '../../support/command-capture.ts'
import { eventually } from '../../support/condition.ts'
import { adminOf } from '../../support/kafka-client.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'

const IDS = 6

interface Listing {
  readonly transactions: readonly { readonly transactionalId: string; readonly coordinator: number }[]
  readonly gaps: readonly string[]
}

describe('transactions while a broker is away', function () {
  this.timeout(180_000)
  const kafka = useBroker('three')

  afterEach(async () => {
    // As they were found: all three, whatever failed.
    await Promise.all(kafka().nodes.map(({ id }) => kafka().startNode(id)))
  })

  const list = async (prefix: string): Promise<{ code: number; listing: Listing }> => {
    const io = new CommandCapture()
    const argv = ['txn', 'list', '--bootstrap-server', kafka().bootstrapServers, '--prefix', prefix, '--format', 'json']
    const code = await runCommandLine(argv, { version: '0', commands: COMMANDS }, io)
    return { code, listing: JSON.parse(io.stdout.join('\n')) as Listing }
  }

  it('are listed as far as they can be learnt, with what is missing and exit code 69; whole again once others coordinate them', async () => {
    const prefix = uniqueName('outage')
    const ids = Array.from({ length: IDS }, (_, at) => `${prefix}-${String(at)}`)
    const topic = uniqueName('in')
    const { admin, cluster } = await adminOf(kafka())
    try {
      await admin.createTopics([{ name: topic, partitions: 1, replicationFactor: 3, configs: {} }])
      for (const id of ids) {
        const writer = await KafkaWriter.open(kafka().bootstrapServers, { 'transactional.id': id })
        await writer.transaction(topic, [{ value: id }], 'commit')
        await writer.close()
      }
    } finally {
      await cluster.close()
    }
    const before = await list(prefix)
    expect([before.code, before.listing.gaps]).to.deep.equal([0, []])
    expect(before.listing.transactions.map(({ transactionalId }) => transactionalId)).to.deep.equal(ids)

    const away = before.listing.transactions[0]?.coordinator ?? -1
    kafka().kill(away, 'SIGKILL')
    await kafka().ended(away)
    // Until the controllers have given it up, it is named as a broker and coordinates nothing that can be asked for.
    const during = await list(prefix)
    expect(during.code).to.equal(69)
    expect(during.listing.gaps.join('\n')).to.include(`Broker ${String(away)} did not answer`)
    const left = during.listing.transactions.map(({ coordinator }) => coordinator)
    expect(left).to.not.include(away)

    let after = during
    await eventually('the other brokers coordinate all ids', async () => {
      after = await list(prefix)
      return after.code === 0
    })
    expect(after.listing.transactions.map(({ transactionalId }) => transactionalId)).to.deep.equal(ids)
  })
})
