import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import type { MillraceErrorCode } from '../../../src/model/error-table.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { Deadline } from '../../../src/kafka/cluster/deadline.ts'
import { throughOutages } from '../../../src/engine/start-attempts.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { rejectionOf } from '../../support/rejection.ts'

/** A start whose attempts fail as given, before one succeeds. */
async function start(failures: readonly MillraceErrorCode[], timeoutMs = 10_000): Promise<string> {
  const clock = new ManualClock()
  let made = 0
  const options = {
    clock,
    logger: SILENT_LOGGER,
    backoff: { next: () => 1_000 },
    deadline: new Deadline(clock, timeoutMs),
  }
  const started = throughOutages(options, () => {
    const failure = failures[made]
    made += 1
    return failure === undefined ? Promise.resolve(made) : Promise.reject(new MillraceError(failure, { what: 'Away.' }))
  })
  // Handled below; until then the clock moves.
  started.catch(() => undefined)
  await clock.advance(20_000)
  return `started at the attempt ${String(await started)}`
}

describe('a start', () => {
  it('is tried again after an outage of the brokers', async () => {
    expect(await start(['CONNECTION_LOST', 'REQUEST_TIMED_OUT'])).to.equal('started at the attempt 3')
  })

  it('is tried again after a refusal that passes', async () => {
    const clock = new ManualClock()
    const refusals = [new MillraceError('KAFKA_ERROR', { what: 'No broker lives.', reaction: 'retry' })]
    const options = {
      clock,
      logger: SILENT_LOGGER,
      backoff: { next: () => 1_000 },
      deadline: new Deadline(clock, 10_000),
    }
    const started = throughOutages(options, () => {
      const refusal = refusals.pop()
      return refusal === undefined ? Promise.resolve('started') : Promise.reject(refusal)
    })
    await clock.advance(2_000)
    expect(await started).to.equal('started')
  })

  it('fails at once with what waiting does not mend', async () => {
    expect((await rejectionOf(start(['TOPIC_MISSING']))).code).to.equal('TOPIC_MISSING')
    expect((await rejectionOf(start(['CONNECTION_LOST', 'KAFKA_ERROR']))).code).to.equal('KAFKA_ERROR')
  })

  it('ends at its deadline with the last reason', async () => {
    const { code, message } = await rejectionOf(
      start(
        Array.from({ length: 5 }, () => 'CONNECTION_LOST' as const),
        3_500,
      ),
    )
    expect(code).to.equal('BROKER_UNREACHABLE')
    expect(message).to.match(/within 3500 ms\. Last reason: Away\./)
  })
})
