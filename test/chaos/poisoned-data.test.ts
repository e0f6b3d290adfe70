import { expect } from 'chai'
import { systemClock } from '../../src/engine/system-clock.ts'
import { Admin } from '../../src/kafka/admin/admin.ts'
import { TopicPartitionMap } from '../../src/model/topic-partition.ts'
import { uniqueName } from '../support/broker.ts'
import { eventually } from '../support/condition.ts'
import { faultFired } from '../support/fault-count.ts'
import type { RecordToWrite } from '../support/kafka-writer.ts'
import { numbered, PATIENCE_MS, useCaseRoom, type CaseApplication } from '../integration/cases/case-room.ts'

/** How long it is tried what must be refused. */
const REFUSED_MS = 3_000
/** Deep enough to overflow the stack of a parser that recurses. */
const DEPTH = 100_000

/** What untrusted bytes look like; the application reads JSON. */
const CORPUS: readonly (RecordToWrite & { readonly name: string })[] = [
  { name: 'bytes that are no UTF-8', value: Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]) },
  { name: 'no bytes', value: Buffer.alloc(0) },
  { name: 'broken JSON', value: '{"n":' },
  { name: 'two documents', value: '{"n":1}{"n":2}' },
  { name: 'a prototype as a key', value: '{"__proto__":{"polluted":"yes"},"n":1}' },
  { name: 'a constructor as a key', value: '{"constructor":{"prototype":{"polluted":"yes"}},"n":1}' },
  { name: 'a null key', key: null, value: '{"n":1}' },
  { name: 'deep arrays', value: '['.repeat(DEPTH) + ']'.repeat(DEPTH) },
  { name: 'deep objects', value: `${'{"n":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}` },
  { name: 'not a number', value: '{"n":NaN}' },
  { name: 'an infinite number', value: '{"n":1e999}' },
  { name: 'a number beyond 2^53', value: '{"n":9007199254740993}' },
  { name: 'half a surrogate pair', value: String.raw`{"n":"\ud800"}` },
  { name: 'a tombstone', value: null },
  {
    name: 'headers of one name',
    value: '{"n":1}',
    headers: [
      ['h', 'first'],
      ['h', 'second'],
      ['', null],
    ],
  },
]

/** Fails the record whose reading left a trace on the prototype of all objects. */
const STEPS = `
export const look = value => {
  if (({}).polluted !== undefined || [].polluted !== undefined) throw new Error('the prototype was changed')
  return value
}
`

describe('poisoned data', function () {
  this.timeout(180_000)
  const room = useCaseRoom()

  it('F33 of every kind: each record comes out once or is one dead letter; the process lives, and no prototype changes', async () => {
    const input = await room().topic('in')
    const folder = await room().folder({ 'steps.mjs': STEPS })
    const id = uniqueName('app')
    const application: CaseApplication = {
      id,
      sources: { in: { topic: input, key: 'string?', value: 'json' } },
      steps: { look: { from: 'in', value: { module: `${folder}/steps.mjs#look` }, serdes: { value: 'json' } } },
      sinks: { out: { from: 'look', topic: `${input}-out` } },
      errors: {
        deserialization: 'deadLetter',
        processing: 'deadLetter',
        production: 'deadLetter',
        deadLetterTopic: `${input}-dead`,
      },
    }
    // A good record between two bad ones shows that the application has gone on.
    const records = CORPUS.flatMap(({ name, ...record }, index) => [
      { key: `poison: ${name}`, ...record },
      ...numbered(1, index, `good ${String(index)}`),
    ])
    await room().write(input, records)
    const process = await room().start(application)
    await room().untilOffsets(id, input, [records.length])

    const out = await room().records(`${input}-out`)
    const dead = await room().records(`${input}-dead`)
    const keys = [...out, ...dead].map(({ key }) => String(key)).toSorted((a, b) => a.localeCompare(b))
    const wanted = records.map(({ key }) => String(key)).toSorted((a, b) => a.localeCompare(b))
    expect(keys, 'every record comes out once, in one of the two').to.deep.equal(wanted)
    expect(out.filter(({ key }) => String(key).startsWith('good'))).to.have.lengthOf(CORPUS.length)
    for (const { key, value } of dead) {
      const original = records.find(record => String(record.key) === String(key))?.value
      expect(value, `the dead letter of ${String(key)} holds the bytes of its record`).to.deep.equal(
        original === null || original === undefined ? null : Buffer.from(original as Uint8Array),
      )
    }
    expect(process.hasExited).to.equal(false)
    expect(process.lines.join('\n')).not.to.include('the prototype was changed')
    faultFired('F33', dead.length, 'dead letters')
  })

  it('F36 more partitions of an input under an application with state: it stops with TOPIC_MISMATCH', async () => {
    const input = await room().topic('in', 2)
    const id = uniqueName('app')
    const process = await room().start({
      id,
      kafka: { 'metadata.max.age.ms': 1_000 },
      sources: { in: { topic: input, key: 'string', value: 'string' } },
      steps: { counts: { from: 'in', count: {} } },
      sinks: { out: { from: 'counts', topic: `${input}-out` } },
    })
    await room().write(input, numbered(20))
    await room().untilRecords(`${input}-out`, 20)
    await room().admin.createPartitions(input, 3)
    expect((await process.untilExit(PATIENCE_MS)).code).to.equal(78)
    const text = process.lines.join('\n')
    expect(text).to.include('TOPIC_MISMATCH').and.to.include(input)
    faultFired('F36', 1, 'partitions added')
  })

  it('F36 more partitions of an input under an application without state: they are handed out and read', async () => {
    const input = await room().topic('in', 1)
    const id = uniqueName('app')
    const process = await room().start({
      id,
      kafka: { 'metadata.max.age.ms': 1_000 },
      sources: { in: { topic: input, key: 'string', value: 'string' } },
      sinks: { out: { from: 'in', topic: `${input}-out` } },
    })
    await room().write(input, numbered(10))
    await room().untilRecords(`${input}-out`, 10)
    await room().admin.createPartitions(input, 2)
    const late = numbered(10, 10).map(record => ({ ...record, partition: 1 }))
    await eventually(
      'the new partition takes records',
      async () =>
        room()
          .write(input, late)
          .then(
            () => true,
            () => false,
          ),
      PATIENCE_MS,
    )
    const values = (await room().untilRecords(`${input}-out`, 20)).map(({ value }) => Number(value?.toString()))
    expect(values.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 20 }, (_, index) => index))
    expect(process.hasExited).to.equal(false)
    faultFired('F36', late.length, 'records in a new partition')
  })

  it('F39 a group that is deleted or reset under a running application: refused by the broker, and nothing changes', async () => {
    const input = await room().topic('in')
    const id = uniqueName('app')
    await room().write(input, numbered(20, 0, 'k'))
    const process = await room().start({
      id,
      sources: { in: { topic: input, key: 'string', value: 'string' } },
      steps: { counts: { from: 'in', count: {} } },
      sinks: { out: { from: 'counts', topic: `${input}-out` } },
    })
    await room().untilRecords(`${input}-out`, 20)
    const partition = { topic: input, partition: 0 }
    const start = new TopicPartitionMap<{ offset: number; leaderEpoch: number; metadata: string }>()
    start.set(partition, { offset: 0, leaderEpoch: -1, metadata: '' })
    const impatient = new Admin(room().cluster, { clock: systemClock, timeoutMs: REFUSED_MS })
    const refusals = await Promise.all([
      impatient.deleteGroup(id).then(
        deleted => (deleted ? 'deleted' : 'refused'),
        () => 'refused',
      ),
      impatient.alterGroupOffsets(id, start).then(
        () => 'reset',
        () => 'refused',
      ),
    ])
    expect(refusals).to.deep.equal(['refused', 'refused'])
    await room().write(input, numbered(20, 20, 'k'))
    const counts = (await room().untilRecords(`${input}-out`, 40)).map(({ value }) => Number(value?.readBigInt64BE(0)))
    expect(counts).to.deep.equal(Array.from({ length: 40 }, (_, index) => index + 1))
    expect(process.hasExited).to.equal(false)
    faultFired('F39', refusals.length, 'attempts on the group')
  })
})
