import { expect } from 'chai'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CRASH_POINTS, type CrashPointName } from '../../../src/model/crash-point.ts'
import { ApplicationUnderTest } from '../../support/application.ts'
import { type BrokerKind, useBroker } from '../../support/broker.ts'
import { type FaultId, faultFired } from '../../support/fault-count.ts'
import type { LogLine, MillraceProcess } from '../../support/millrace-process.ts'

const RECORDS_PER_LIFE = 60
/** A member without its place waits for the session timeout, 45 s; one with a new transactional id for the old transaction. */
const RESTART_MS_MAX = 35_000
const TRANSACTION_TIMEOUT_MS = 60_000

/** Between requests that go another way, or not at all, without transaction.version 2. */
const OF_PROTOCOL_1: readonly CrashPointName[] = [
  'addPartitions:answered',
  'produce:firstAnswered',
  'produce:allAnswered',
  'addOffsets:answered',
  'txnOffsetCommit:answered',
  'endTxn:sent',
  'endTxn:answered',
]

/** AddOffsetsToTxn is sent without transaction.version 2 only; 3.9.1 does what 4.4 without it does, so a few points will do. */
const POINTS: readonly (readonly [BrokerKind, readonly CrashPointName[]])[] = [
  ['tv2', CRASH_POINTS.filter(point => point !== 'addOffsets:answered')],
  ['tv0', OF_PROTOCOL_1],
  ['3.9.1', ['produce:allAnswered', 'addOffsets:answered', 'txnOffsetCommit:answered', 'endTxn:sent']],
]

/** The fault that a kill at a point is, as docs/reliability.md numbers them. */
const FAULTS: Readonly<Record<CrashPointName, FaultId>> = {
  'initProducerId:sent': 'F8',
  'initProducerId:answered': 'F8',
  'addPartitions:answered': 'F2',
  'produce:firstAnswered': 'F2',
  'produce:allAnswered': 'F3',
  'flush:done': 'F3',
  'addOffsets:answered': 'F3',
  'txnOffsetCommit:answered': 'F4',
  'endTxn:sent': 'F5',
  'endTxn:answered': 'F6',
  'commit:beforeApply': 'F6',
  'commit:applied': 'F6',
}

function passedAtStart(point: CrashPointName): boolean {
  return point.startsWith('initProducerId')
}

/** From the first line of the log to the one that says that all tasks run, by the process's own clock. */
async function restartMsOf(process: MillraceProcess): Promise<number> {
  const last = await process.untilLine('the application is running')
  const [first] = process.log
  return timeOf(JSON.parse(last) as LogLine) - timeOf(first)
}

function timeOf(line: LogLine | undefined): number {
  return Date.parse(String(line?.['time']))
}

describe('kill −9 in a commit', function () {
  this.timeout(180_000)

  for (const [kind, points] of POINTS) {
    describe(`on a broker of kind ${kind}`, () => {
      const kafka = useBroker(kind)
      let application: ApplicationUnderTest
      /** The present life, armed for the next point; it crashes there as soon as the gate exists. */
      let running: MillraceProcess | undefined
      let gate: string
      let slowestMs = 0

      const armed = (point: CrashPointName): Record<string, string> => ({
        MILLRACE_TEST_CRASH_AT: point,
        MILLRACE_TEST_CRASH_WHEN: gate,
      })

      before(async () => {
        application = await ApplicationUnderTest.create({
          shape: 'totals',
          judged: true,
          bootstrapServers: kafka().bootstrapServers,
          kafka: { 'transaction.timeout.ms': TRANSACTION_TIMEOUT_MS },
        })
        // Internal topics and coordinators are there then: what is measured is a restart.
        await application.write(RECORDS_PER_LIFE)
        const first = await application.start()
        await application.untilCaughtUp()
        await first.kill()
        gate = join(application.stateDir(), 'crash-now')
      })

      after(async () => {
        console.log(`      slowest restart until all tasks ran: ${String(slowestMs)} ms`)
        await application.dispose()
      })

      for (const [index, point] of points.entries()) {
        it(`at ${point} loses nothing and repeats nothing, and the next life commits within seconds (${FAULTS[point]})`, async () => {
          const next = points[index + 1]
          if (passedAtStart(point)) {
            await running?.kill()
            await application.write(RECORDS_PER_LIFE)
            running = await application.start({ env: { MILLRACE_TEST_CRASH_AT: point } })
          } else {
            running ??= await application.start({ env: armed(point) })
            await application.untilCaughtUp()
            await writeFile(gate, '')
            await application.write(RECORDS_PER_LIFE)
          }
          const killed = running
          expect(await killed.untilExit(60_000), killed.lines.join('\n')).to.deep.equal({
            code: null,
            signal: 'SIGKILL',
          })
          faultFired(FAULTS[point], Number(killed.hasExited), `kills at ${point}`)
          await rm(gate, { force: true })

          running = await application.start(next === undefined ? {} : { env: armed(next) })
          await application.expectExactSoFar()
          const restartMs = await restartMsOf(running)
          slowestMs = Math.max(slowestMs, restartMs)
          expect(restartMs, 'ms from the start until all tasks run').to.be.below(RESTART_MS_MAX)
        })
      }

      it('leaves offsets, metadata, changelog and transactions as if nothing had happened (I1–I4)', async () => {
        await application.write(RECORDS_PER_LIFE)
        const last = running ?? (await application.start())
        await application.expectExact()
        expect(await last.terminate()).to.deep.equal({ code: 0, signal: null })
        await application.expectNothingOpen()
        await application.expectConsistent()
      })
    })
  }
})
