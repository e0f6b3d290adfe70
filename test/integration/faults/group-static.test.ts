import { expect } from 'chai'
import { ApplicationUnderTest } from '../../support/application.ts'
import { useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import type { LogLine, MillraceProcess } from '../../support/millrace-process.ts'
import { mergeYaml, Stage } from './stage.ts'

const WAIT_MS = 60_000
/** A member that did not take its old place would wait at least this long. */
const SESSION_MS = 45_000
/**
 * From the start of the new process to its commit. It takes one to two seconds, most of them Node's own, and several
 * times that where the test shares two cores with others.
 */
const RETURN_MS_MAX = 35_000

describe('a static member', function () {
  this.timeout(120_000)
  const kafka = useBroker('tv2')
  let application: ApplicationUnderTest | undefined
  let stage: Stage | undefined

  afterEach(async () => {
    await application?.dispose()
    await stage?.close()
    application = undefined
    stage = undefined
  })

  it('takes its place again after kill −9: same generation, same partitions, its leftover transaction aborted', async () => {
    const app = await ApplicationUnderTest.create({
      shape: 'totals',
      judged: true,
      bootstrapServers: kafka().bootstrapServers,
      partitions: 4,
      kafka: { 'session.timeout.ms': SESSION_MS },
    })
    application = app
    const neighbour = await app.start({ instance: 'a' })
    await neighbour.untilLine(/"added":\["/, WAIT_MS)
    const victim = await app.start({ instance: 'b' })
    await victim.untilLine(/"added":\["/, WAIT_MS)
    await app.write(100)
    await app.untilCaughtUp()
    // The assignment as the group has it: rounds are over when both say the same generation.
    await eventually(
      'both are in one generation',
      () => lastAssignment(victim).generation === lastAssignment(neighbour).generation,
    )
    const before = lastAssignment(neighbour)
    const owned = await partitionsOf(app)
    await app.write(50)
    await victim.kill()
    await app.write(50)

    const startedMs = Date.now()
    const again = await app.start({ instance: 'b' })
    await app.untilCaughtUp()
    const tookMs = Date.now() - startedMs
    console.log(`        from the start of the process to the last commit ${String(tookMs)} ms`)
    expect(tookMs).to.be.lessThan(RETURN_MS_MAX)
    await again.untilLine('assignment applied', WAIT_MS)
    expect(lastAssignment(again).generation).to.equal(before.generation)
    expect(lastAssignment(neighbour)).to.deep.equal(before)
    expect(await partitionsOf(app)).to.deep.equal(owned)
    await app.expectExact()
    await app.expectConsistent()
  })

  it('asks for a round of its own when its file reads one more topic since its last life', async () => {
    const here = await Stage.open(kafka())
    stage = here
    const [left, right] = [await here.topic(2), await here.topic(2)]
    const names = here.names()
    const old = await here.start(mergeYaml({ ...names, inputs: [left] }))
    await old.untilLine(/"added":\["/, WAIT_MS)
    await here.write(left, [{ key: 'k', value: '0' }])
    await here.settled(names.id, [left])
    await old.kill()
    const changed = await here.start(mergeYaml({ ...names, inputs: [left, right] }), { stateDir: old.stateDir })
    await here.write(right, [{ key: 'other', value: '0' }])
    await here.write(left, [{ key: 'k', value: '1' }])
    await here.settled(names.id, [left, right])
    const found = await here.read(names.output)
    const values = found.map(({ key, value }) => `${String(key)}=${String(value)}`)
    expect(values.toSorted()).to.deep.equal(['k=0', 'k=1', 'other=0'])
    expect(changed.hasExited).to.equal(false)
  })
})

interface Assignment {
  readonly generation: unknown
  readonly count: number
}

function lastAssignment(process: MillraceProcess): Assignment {
  const all = process.log.filter(({ msg }: LogLine) => msg === 'assignment applied')
  return { generation: all.at(-1)?.['generation'], count: all.length }
}

/** What each instance owns, as the group's coordinator has it. */
async function partitionsOf(app: ApplicationUnderTest): Promise<Record<string, readonly string[]>> {
  const { members } = await app.admin.describeGroup(app.id)
  return Object.fromEntries(
    members.map(({ groupInstanceId, partitions }) => [
      String(groupInstanceId),
      partitions.map(({ topic, partition }) => `${topic}-${String(partition)}`).toSorted(),
    ]),
  )
}
