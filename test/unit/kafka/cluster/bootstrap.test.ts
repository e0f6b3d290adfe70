import { expect } from 'chai'
import { Backoff } from '../../../../src/kafka/cluster/backoff.ts'
import { bootstrap } from '../../../../src/kafka/cluster/bootstrap.ts'
import type { Timer } from '../../../../src/model/clock.ts'
import { MillraceError } from '../../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../../src/model/logger.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { rejectionOf } from '../../../support/rejection.ts'

/** Fires timers up to a millisecond early, as Node does. */
class EarlyClock extends ManualClock {
  override after(delayMs: number, callback: () => void): Timer {
    return super.after(Math.trunc(delayMs), callback)
  }
}

/** What the caller reads when the attempts end as given, the last one for ever. */
async function reasonOfFailure(attempts: readonly (() => Promise<void>)[]): Promise<string> {
  const clock = new EarlyClock()
  let made = 0
  const outcome = rejectionOf(
    bootstrap({
      servers: [{ host: 'kafka', port: 9092 }],
      clock,
      logger: SILENT_LOGGER,
      backoff: new Backoff(100, 1_000, () => 0.5),
      timeoutMs: 1_000.9,
      attempt: () => {
        made += 1
        return attempts[Math.min(made, attempts.length) - 1]?.() ?? Promise.resolve()
      },
    }),
  )
  await clock.advance(2_000)
  const error = await outcome
  expect(error.code).to.equal('BROKER_UNREACHABLE')
  return error.message
}

const hangUp = (): Promise<void> => Promise.reject(new MillraceError('CONNECTION_LOST', { what: 'It may want SASL.' }))
const silence = (): Promise<void> => new Promise(() => undefined)

describe('bootstrap', () => {
  it('tells the reason of the last attempt that ended, not that the deadline cut the next one short', async () => {
    expect(await reasonOfFailure([hangUp, silence])).to.match(/Last reason: It may want SASL\./)
  })

  it('tells the reason of the last attempt where no time is left for another', async () => {
    expect(await reasonOfFailure([hangUp])).to.match(/Last reason: It may want SASL\./)
  })

  it('says that nobody answered where no attempt ended', async () => {
    expect(await reasonOfFailure([silence])).to.match(/Last reason: No broker of kafka:9092 answered/)
  })
})
