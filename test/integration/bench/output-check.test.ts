import { expect } from 'chai'
import { checkOutput, type Expected } from '../../../bench/output-check.ts'
import type { WorkloadName } from '../../../bench/scenario.ts'
import { Admin } from '../../../src/kafka/admin/admin.ts'
import { systemClock } from '../../../src/engine/system-clock.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import { connectCluster, createTopic } from '../../support/test-cluster.ts'

/** Seconds on a machine that is idle. */
const TIMEOUT_MS = 60_000

function countOf(value: number): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(value))
  return bytes
}

async function failureOf(checked: Promise<number>): Promise<string> {
  return await checked.then(
    () => 'no failure',
    (error: unknown) => (error instanceof Error ? error.message : ''),
  )
}

describe('the check of an output', function () {
  this.timeout(TIMEOUT_MS)
  const kafka = useBroker('tv2')

  async function check(
    workload: WorkloadName,
    values: readonly (readonly [key: string, value: string | Uint8Array])[],
    expected: Partial<Expected> = {},
  ): Promise<number> {
    const topic = uniqueName('out')
    const { cluster } = await connectCluster(kafka().bootstrapServers)
    try {
      await createTopic(new Admin(cluster, { clock: systemClock }), topic)
    } finally {
      await cluster.close()
    }
    const writer = await KafkaWriter.open(kafka().bootstrapServers)
    await writer.write(
      topic,
      values.map(([key, value]) => ({ key, value })),
    )
    const input = { topic: 'in', records: 3, valueBytes: 12, paid: { records: 2, net: 50 } }
    return await checkOutput(kafka().bootstrapServers, topic, {
      workload,
      input,
      tableValueBytes: 0,
      isCached: false,
      ...expected,
    })
  }

  it('lets pass what is complete', async () => {
    expect(
      await check('copy', [
        ['a', 'four'],
        ['b', 'four'],
        ['c', 'four'],
      ]),
    ).to.equal(3)
    expect(
      await check('json', [
        ['a', '{"net":20}'],
        ['b', '{"net":30}'],
      ]),
    ).to.equal(2)
    expect(
      await check('count', [
        ['a', countOf(1)],
        ['a', countOf(2)],
        ['b', countOf(1)],
      ]),
    ).to.equal(3)
  })

  it('fails when a record is missing', async () => {
    expect(
      await failureOf(
        check('copy', [
          ['a', 'four'],
          ['b', 'four'],
        ]),
      ),
    ).to.equal('wrong output: 3 records that come to 12 were expected, 2 that come to 8 are there')
  })

  it('fails when a record is there twice', async () => {
    const failure = await failureOf(
      check('json', [
        ['a', '{"net":20}'],
        ['b', '{"net":30}'],
        ['b', '{"net":30}'],
      ]),
    )
    expect(failure).to.equal('wrong output: 2 records that come to 50 were expected, 3 that come to 80 are there')
  })

  it('fails when as many records say something else', async () => {
    const failure = await failureOf(
      check('count', [
        ['a', countOf(1)],
        ['a', countOf(2)],
        ['a', countOf(4)],
      ]),
    )
    expect(failure).to.equal('wrong output: 3 records that come to 3 were expected, 3 that come to 4 are there')
  })

  it('lets a cache leave out updates, as long as the last ones are right', async () => {
    const lastOnes = [
      ['a', countOf(2)],
      ['b', countOf(1)],
    ] as const
    expect(await check('count', lastOnes, { isCached: true })).to.equal(2)
    expect(await failureOf(check('count', lastOnes))).to.contain('3 records that come to 3 were expected')
  })
})
