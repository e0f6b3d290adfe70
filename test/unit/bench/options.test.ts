import { expect } from 'chai'
import { BenchUsageError, HELP, readOptions } from '../../../bench/options.ts'
import { planOf } from '../../../bench/suites.ts'

function idsOf(...args: readonly string[]): { throughput: string[]; latency: string[] } {
  const { throughput, latency } = planOf(readOptions(args))
  return { throughput: throughput.map(({ id }) => id), latency: latency.map(({ id }) => id) }
}

describe('the command line of the benchmark', () => {
  it('measures every workload and the latency by default', () => {
    expect(idsOf()).to.deep.equal({
      throughput: ['copy', 'json', 'count', 'windowed', 'join'],
      latency: ['copy', 'copy-10ms', 'count', 'count-10ms'],
    })
  })

  it('measures copy and count against Kafka Streams, quickly', () => {
    const options = readOptions(['--quick'])
    const { throughput, latency } = planOf(options)
    expect(throughput.map(({ id, contenders }) => [id, contenders])).to.deep.equal([
      ['copy', ['millrace', 'streams']],
      ['count', ['millrace', 'streams']],
    ])
    expect(latency.map(({ id }) => id)).to.deep.equal(['copy', 'count'])
    expect(options.rounds).to.equal(2)
  })

  it('picks scenarios by name, and all of a family by its beginning', () => {
    expect(idsOf('--only', 'join').throughput).to.deep.equal(['join'])
    expect(idsOf('--suites', 'workloads,variants', '--only', 'join-').throughput).to.deep.equal([
      'join',
      'join-10ms',
      'join-2-threads',
      'join-at-least-once',
    ])
  })

  it('leaves out scenarios that none of the wanted contenders can do', () => {
    expect(idsOf('--contenders', 'raw').throughput).to.deep.equal(['copy'])
    expect(idsOf('--contenders', 'kafkajs').throughput).to.deep.equal(['copy', 'json'])
  })

  it('keeps the contenders in the order of their turns', () => {
    expect(readOptions(['--contenders', 'streams,millrace']).contenders).to.deep.equal(['millrace', 'streams'])
  })

  it('gives every scenario of all suites a name of its own', () => {
    const { throughput, latency } = idsOf('--suites', 'all')
    expect(throughput.length).to.be.greaterThan(35)
    expect(new Set(throughput).size).to.equal(throughput.length)
    expect(new Set(latency).size).to.equal(latency.length)
  })

  it('bounds what an input of large records writes', () => {
    const { throughput } = planOf(readOptions(['--suites', 'growth']))
    const large = throughput.find(({ id }) => id === 'copy-100000-bytes')
    expect(large?.records).to.equal(4_000)
  })

  for (const [args, message] of [
    [['--records', '0'], '--records is a positive number: 0'],
    [['--rounds', 'many'], '--rounds is a positive number: many'],
    [['--suites', 'speed'], 'there is no speed'],
    [['--contenders', 'millrace,flink'], 'there is no flink'],
    [['--fast'], '--fast'],
  ] as const) {
    it(`refuses ${args.join(' ')}`, () => {
      expect(() => readOptions(args)).to.throw(BenchUsageError, message)
    })
  }

  it('explains every option it knows', () => {
    for (const option of ['quick', 'suites', 'only', 'contenders', 'records', 'rounds', 'seconds', 'cli', 'json']) {
      expect(HELP).to.include(`--${option}`)
    }
    for (const option of ['profile', 'write-docs', 'render']) expect(HELP).to.include(`--${option}`)
  })
})
