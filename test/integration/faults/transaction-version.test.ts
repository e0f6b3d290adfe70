import { expect } from 'chai'
import { LocalKafka } from '../../../src/local-kafka/local-kafka.ts'
import { ApplicationUnderTest } from '../../support/application.ts'
import { eventually } from '../../support/condition.ts'
import { faultFired } from '../../support/fault-count.ts'
import { sharedJavaClient } from '../../support/java-client.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { connectCluster } from '../../support/test-cluster.ts'

const RECORDS = 20
const WAIT_MS = 60_000
/** Where a wait has failed. */
const LINES_SHOWN = 40
/** `transaction.version` → the version of EndTxn that speaks it. */
const END_TXN_OF = { 0: 3, 2: 5 } as const

describe('transaction.version raised under a running application (F28)', function () {
  this.timeout(300_000)
  let kafka: LocalKafka
  let proxy: KafkaProxy
  let application: ApplicationUnderTest

  before('starts a broker of its own', async () => {
    // The feature belongs to the whole cluster: other tests need theirs as it is.
    kafka = await LocalKafka.start({ test: true, transactionVersion: 0 })
    proxy = await KafkaProxy.start(kafka)
    application = await ApplicationUnderTest.create({
      shape: 'totals',
      judged: true,
      bootstrapServers: kafka.bootstrapServers,
    })
  })

  after(async () => {
    await application.dispose()
    await proxy.stop()
    await kafka.stop()
  })

  it('goes on exactly once when it is raised, and switches between two transactions only', async () => {
    const java = await sharedJavaClient(kafka.bootstrapServers)
    const spoken: { readonly api: string; readonly version: number }[] = []
    proxy.rule({
      api: ['Produce', 'TxnOffsetCommit', 'EndTxn', 'InitProducerId'],
      direction: 'request',
      action: { type: 'call', run: ({ api, version }) => void spoken.push({ api, version }) },
    })
    const endsOf = (version: number): number =>
      spoken.filter(request => request.api === 'EndTxn' && request.version === version).length

    const load = { isOver: false }
    const write = async (): Promise<void> => {
      while (!load.isOver) await application.write(RECORDS)
    }
    const process = await application.start({ bootstrapServers: proxy.bootstrapServers })
    const until = async (claim: string, condition: () => boolean): Promise<void> => {
      await eventually(claim, condition, WAIT_MS).catch((cause: unknown) => {
        const sent = spoken.slice(-LINES_SHOWN).map(({ api, version }) => `${api} ${String(version)}`)
        throw new Error([claim, ...sent, ...process.lines.slice(-LINES_SHOWN)].join('\n'), { cause })
      })
    }
    const writing = write()
    try {
      await until('it commits', () => endsOf(END_TXN_OF[0]) >= 3)
      await java.command(['feature', 'transaction.version', '2'])
      await eventually('the broker tells the level', async () => (await levelOf(kafka)) === 2, WAIT_MS)
      // Who has not heard of it goes on as before, and may.
      const before = spoken.length
      await until('it still commits', () => spoken.slice(before).filter(({ api }) => api === 'EndTxn').length >= 3)
      // New ones learn of the level, in the middle of whatever is open.
      proxy.cut()
      proxy.heal()
      await until('it commits by the new protocol', () => endsOf(END_TXN_OF[2]) >= 5)
    } finally {
      load.isOver = true
      await writing
    }
    await application.expectExact(WAIT_MS)
    expect(process.hasExited).to.equal(false)
    faultFired('F28', endsOf(END_TXN_OF[2]), 'transactions after the level was raised')
    for (const [transaction, versions] of transactionsOf(spoken).entries()) {
      expect(versions.size, `protocols within transaction ${String(transaction)}`).to.be.at.most(1)
    }
    await application.expectConsistent()
  })
})

async function levelOf({ bootstrapServers }: LocalKafka): Promise<number> {
  const { cluster } = await connectCluster(bootstrapServers)
  await cluster.close()
  return cluster.transactionVersion
}

/** From which version of a request on it means protocol 2. */
const PROTOCOL_2: Readonly<Record<string, number>> = { Produce: 12, TxnOffsetCommit: 5, EndTxn: 5 }

/** The protocols that the requests of each transaction spoke; a new epoch ends one as well. */
function transactionsOf(spoken: readonly { readonly api: string; readonly version: number }[]): Set<number>[] {
  const transactions = [new Set<number>()]
  for (const { api, version } of spoken) {
    const from = PROTOCOL_2[api]
    if (from !== undefined) transactions.at(-1)?.add(version >= from ? 2 : 1)
    if (api === 'EndTxn' || api === 'InitProducerId') transactions.push(new Set())
  }
  return transactions
}
