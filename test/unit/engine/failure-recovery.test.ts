import { expect } from 'chai'
import type { MillraceErrorCode } from '../../../src/model/error-table.ts'
import { MillraceError } from '../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { FailureRecovery } from '../../../src/engine/failure-recovery.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { Answers } from './engine-fakes.ts'

class RecoveryBench {
  readonly clock = new ManualClock()
  readonly calls: string[] = []
  aborts = new Answers<'done'>('done')
  startsOver = new Answers<'done'>('done')
  stopRequested = false
  readonly recovery = new FailureRecovery({
    clock: this.clock,
    logger: SILENT_LOGGER,
    abort: () => this.#answer('abort', this.aborts),
    startOver: () => this.#answer('startOver', this.startsOver),
    stopRequested: () => this.stopRequested,
  })

  /** Recovers from a failure, letting the time pass that it takes. */
  async recover(code: MillraceErrorCode): Promise<MillraceError | undefined> {
    const recovered = this.recovery.recover(new MillraceError(code))
    // Handled below; until then the clock moves.
    recovered.catch(() => undefined)
    await this.clock.advance(2_000)
    return recovered
  }

  async #answer(call: string, answers: Answers<'done'>): Promise<void> {
    this.calls.push(call)
    await Promise.resolve()
    answers.next()
  }
}

describe('failure recovery', () => {
  for (const [code, reaction] of [
    ['CONNECTION_LOST', 'abort'],
    ['TRANSACTION_ABORTED', 'abort'],
    ['REQUEST_TIMED_OUT', 'abort'],
    ['KAFKA_ERROR', 'abort'],
    ['MEMBERSHIP_LOST', 'startOver'],
    ['MAX_POLL_INTERVAL_EXCEEDED', 'startOver'],
    ['PRODUCER_FENCED', 'startOver'],
  ] as const) {
    it(`answers ${code} with ${reaction}`, async () => {
      const bench = new RecoveryBench()
      expect(await bench.recover(code)).to.equal(undefined)
      expect(bench.calls).to.deep.equal([reaction])
    })
  }

  it('reacts to a first failure at once', async () => {
    const bench = new RecoveryBench()
    await bench.recovery.recover(new MillraceError('CONNECTION_LOST'))

    expect(bench.calls).to.deep.equal(['abort'])
  })

  it('waits before it reacts to a failure that came before', async () => {
    const bench = new RecoveryBench()
    await bench.recovery.recover(new MillraceError('CONNECTION_LOST'))
    const again = bench.recovery.recover(new MillraceError('CONNECTION_LOST'))
    await bench.clock.advance(5)
    expect(bench.calls).to.have.length(1)
    await bench.clock.advance(100)
    await again

    expect(bench.calls).to.have.length(2)
  })

  it('hands on what must stop the thread, and what is no error of ours', async () => {
    const bench = new RecoveryBench()

    expect((await rejectionOf(bench.recover('NOT_AUTHORIZED'))).code).to.equal('NOT_AUTHORIZED')
    expect((await rejectionOf(bench.recovery.recover(new TypeError('no')))).code).to.equal('INTERNAL')
    expect(bench.calls).to.deep.equal([])
  })

  it('stops after the same failure ten times without a commit, naming it and its remedy', async () => {
    const bench = new RecoveryBench()
    for (let time = 1; time <= 10; time += 1) await bench.recover('KAFKA_ERROR')
    const failure = await rejectionOf(bench.recover('KAFKA_ERROR'))

    expect(failure.code).to.equal('TASK_FAILED_REPEATEDLY')
    expect(failure.message).to.include('11 times').and.include('KAFKA_ERROR')
    expect(failure.action).to.equal(new MillraceError('KAFKA_ERROR').action)
  })

  it('counts failures that alternate', async () => {
    const bench = new RecoveryBench()
    const codes = ['KAFKA_ERROR', 'TRANSACTION_ABORTED'] as const
    for (let time = 0; time < 20; time += 1) await bench.recover(codes[time % 2] ?? 'KAFKA_ERROR')

    expect((await rejectionOf(bench.recover('KAFKA_ERROR'))).code).to.equal('TASK_FAILED_REPEATEDLY')
  })

  it('stops at the fourth fence without a commit', async () => {
    const bench = new RecoveryBench()
    for (let time = 1; time <= 3; time += 1) await bench.recover('PRODUCER_FENCED')

    expect((await rejectionOf(bench.recover('PRODUCER_FENCED'))).code).to.equal('TASK_FAILED_REPEATEDLY')
  })

  it('begins to count anew after a commit', async () => {
    const bench = new RecoveryBench()
    for (let time = 1; time <= 9; time += 1) {
      await bench.recover('PRODUCER_FENCED')
      if (time % 3 === 0) bench.recovery.progressed()
    }

    expect(bench.calls).to.have.length(9)
  })

  it('begins to count anew after a long time: a thread without input commits nothing', async () => {
    const bench = new RecoveryBench()
    for (let time = 1; time <= 12; time += 1) {
      await bench.recover('PRODUCER_FENCED')
      await bench.clock.advance(3_600_000)
    }

    expect(bench.calls).to.have.length(12)
  })

  it('waits an outage out, however long', async () => {
    const bench = new RecoveryBench()
    for (let time = 1; time <= 50; time += 1) await bench.recover('REQUEST_TIMED_OUT')

    expect(bench.calls).to.have.length(50)
  })

  it('tries again when the reaction itself fails', async () => {
    const bench = new RecoveryBench()
    bench.aborts = new Answers<'done'>(
      new MillraceError('REQUEST_TIMED_OUT'),
      new MillraceError('CONNECTION_LOST'),
      'done',
    )
    await bench.recover('KAFKA_ERROR')

    expect(bench.calls).to.deep.equal(['abort', 'abort', 'abort'])
  })

  it('starts over to the end once it has begun to: an abort would leave a thread that never joins again', async () => {
    const bench = new RecoveryBench()
    bench.startsOver = new Answers<'done'>(new MillraceError('REQUEST_TIMED_OUT'), 'done')
    await bench.recover('MEMBERSHIP_LOST')

    expect(bench.calls).to.deep.equal(['startOver', 'startOver'])
  })

  it('starts over when the abort finds out that the id was lost', async () => {
    const bench = new RecoveryBench()
    bench.aborts = new Answers<'done'>(new MillraceError('PRODUCER_FENCED'))
    await bench.recover('KAFKA_ERROR')

    expect(bench.calls).to.deep.equal(['abort', 'startOver'])
  })

  it('stops when the reaction fails for good', async () => {
    const bench = new RecoveryBench()
    bench.aborts = new Answers<'done'>(new MillraceError('NOT_AUTHORIZED'))

    expect((await rejectionOf(bench.recover('KAFKA_ERROR'))).code).to.equal('NOT_AUTHORIZED')
  })

  it('gives the failure back when a stop is asked for before it succeeds', async () => {
    const bench = new RecoveryBench()
    bench.aborts = new Answers<'done'>(new MillraceError('REQUEST_TIMED_OUT'))
    bench.stopRequested = true

    expect((await bench.recover('KAFKA_ERROR'))?.code).to.equal('REQUEST_TIMED_OUT')
    expect(bench.calls).to.deep.equal(['abort'])
  })

  it('leaves a commit of unknown outcome to the next start when a stop is asked for: an abort would answer it', async () => {
    const bench = new RecoveryBench()
    bench.stopRequested = true

    expect((await bench.recover('COMMIT_OUTCOME_UNKNOWN'))?.code).to.equal('COMMIT_OUTCOME_UNKNOWN')
    expect(bench.calls).to.deep.equal([])
  })
})
