import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { parseResult } from '../../../bench/result-file.ts'
import { runCommand } from '../../../src/local-kafka/command.ts'

const BENCH = fileURLToPath(new URL('../../../bench/main.js', import.meta.url))
const CLI = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
/** Starts a broker with a large heap; seconds on a machine that is idle. */
const TIMEOUT_MS = 240_000

describe('the benchmark', () => {
  it('measures millrace and the raw limit on one broker, checks their outputs, and ends with JSON', async function () {
    this.timeout(TIMEOUT_MS)
    const words = '--suites workloads --only copy --contenders millrace,raw --records 20000 --rounds 1 --json'.split(
      ' ',
    )
    const { exitCode, output } = await runCommand(process.execPath, [BENCH, '--cli', CLI, ...words], {
      timeoutMs: TIMEOUT_MS,
    })
    expect(exitCode, output).to.equal(0)

    const result = parseResult(output.split('\n').at(-1) ?? '')
    const [copy, ...others] = result.throughput
    expect(others).to.deep.equal([])
    expect(
      copy?.contenders.map(({ contender, rounds }) => [contender, rounds.map(({ outputs }) => outputs)]),
    ).to.deep.equal([
      ['millrace', [20_000]],
      ['raw', [20_000]],
    ])
    for (const { rounds } of copy?.contenders ?? []) {
      for (const { whole, peakBytes } of rounds) {
        expect(whole.recordsPerSecond).to.be.greaterThan(0)
        expect(whole.clientCpuMicros).to.be.greaterThan(0)
        expect(whole.brokerCpuMicros).to.be.greaterThan(0)
        expect(peakBytes).to.be.greaterThan(2 ** 20)
      }
    }
    // Kafka Streams did not take part.
    expect(result.ratios).to.deep.equal({})
  })
})
