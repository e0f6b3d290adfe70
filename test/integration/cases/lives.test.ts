import { expect } from 'chai'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { uniqueName } from '../../support/broker.ts'
import { CommandCapture } from '../../support/command-capture.ts'
import { eventually } from '../../support/condition.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { numbered, PATIENCE_MS, useCaseRoom, type CaseApplication } from './case-room.ts'

const KILLS = 10

const copyOf = (topic: string, more: Partial<CaseApplication> = {}): CaseApplication => ({
  id: uniqueName('app'),
  sources: { in: { topic, key: 'string', value: 'string' } },
  sinks: { out: { from: 'in', topic: `${topic}-out` } },
  ...more,
})

const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index))

describe('an application over its lives', function () {
  this.timeout(300_000)
  const room = useCaseRoom()

  it('copies ten thousand records and more once each through ten kills in the middle of transactions (case 1)', async () => {
    const input = await room().topic('in')
    const application = copyOf(input, { kafka: { 'max.partition.fetch.bytes': 16_384 } })
    let stateDir: string | undefined
    let written = 0
    const write = async (count: number): Promise<void> => {
      await room().write(input, numbered(count, written))
      written += count
    }
    for (let kill = 0; kill < KILLS; kill += 1) {
      await write(1_000)
      // In every other life a commit goes through first, so that kills meet all parts of the input.
      const crashAt = kill % 2 === 0 ? 'produce:allAnswered' : 'produce:allAnswered:2'
      const process = await room().start(application, {
        env: { MILLRACE_TEST_CRASH_AT: crashAt },
        ...(stateDir === undefined ? {} : { stateDir }),
      })
      stateDir = process.stateDir
      await eventually(
        `it dies (${String(kill)})`,
        async () => {
          // A second transaction needs something to do.
          if (kill % 2 === 1 && !process.hasExited && process.lines.some(line => line.includes('is running')))
            await write(20)
          return process.hasExited
        },
        PATIENCE_MS,
      )
      expect((await process.exited).signal).to.equal('SIGKILL')
    }
    const last = await room().start(application, stateDir === undefined ? {} : { stateDir })
    await room().untilOffsets(application.id, input, [written])
    expect((await last.terminate()).code).to.equal(0)
    expect(await room().values(`${input}-out`)).to.deep.equal(texts(written))
    const all = await room().records(`${input}-out`, 'read_uncommitted')
    expect(all.length, 'kills left aborted records behind').to.be.greaterThan(written)
  })

  it('goes on with its counts over ten partitions when it comes back as two workers (cases 3, 55)', async () => {
    const input = await room().topic('in', 10)
    const application: CaseApplication = {
      ...copyOf(input),
      steps: { counts: { from: 'in', count: {} } },
      sinks: { out: { from: 'counts', topic: `${input}-out` } },
    }
    const counts = async (): Promise<Map<string, number[]>> => {
      const byKey = new Map<string, number[]>()
      for (const { key, value } of await room().records(`${input}-out`)) {
        const name = key?.toString() ?? ''
        byKey.set(name, [...(byKey.get(name) ?? []), Number(value?.readBigInt64BE() ?? 0n)])
      }
      return byKey
    }
    await room().write(input, numbered(40))
    const alone = await room().start(application)
    await room().untilRecords(`${input}-out`, 40)
    expect((await alone.terminate()).code).to.equal(0)

    // Neither finds a state directory: all they know is in the changelog.
    const workers = [await room().start(application), await room().start(application)]
    await Promise.all(workers.map(worker => worker.untilRunning(PATIENCE_MS)))
    await room().write(input, numbered(40))
    await room().untilRecords(`${input}-out`, 80)
    const byKey = await counts()
    expect([...byKey.keys()]).to.have.length(40)
    for (const [key, values] of byKey) expect(values, key).to.deep.equal([1, 2])
    for (const worker of workers) {
      expect(worker.hasExited).to.equal(false)
      expect(worker.log.filter(({ level }) => level === 'error')).to.deep.equal([])
    }
  })

  it('is fenced from outside in the middle of a batch: shows its age until then, says so, counts it, and goes on exactly (cases 11, 26)', async () => {
    const input = await room().topic('in')
    const application = copyOf(input, { http: { port: 0 } })
    await room().write(input, numbered(200))
    const proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
    try {
      const held = proxy.rule({ api: 'TxnOffsetCommit', direction: 'request', times: 1, action: { type: 'hold' } })
      const process = await room().start({ ...application, servers: proxy.bootstrapServers })
      await held.waitHeld(1, PATIENCE_MS)
      const { port } = JSON.parse(await process.untilLine('health and metrics are served')) as { port: number }
      const metrics = async (): Promise<string> =>
        await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
      await eventually('the age of the open transaction grows', async () => {
        const age = /^millrace_transaction_age_seconds\{.*\} (\S+)$/m.exec(await metrics())?.[1]
        return Number(age) > 0.3
      })
      const [id] = await room().openTransactions(application.id)
      if (id === undefined) throw new Error('no transaction is open')
      await room().admin.fenceTransaction(id)
      held.release()
      await room().untilOffsets(application.id, input, [200])
      expect(await room().values(`${input}-out`)).to.deep.equal(texts(200))
      await eventually('it counts the abort', async () =>
        /^millrace_aborts_total\{.*code="(PRODUCER_FENCED|TRANSACTION_TIMED_OUT)".*\} [1-9]/m.test(await metrics()),
      )
      await process.untilLine('"level":"warn"')
      const all = await room().records(`${input}-out`, 'read_uncommitted')
      expect(all.length, 'what was open was done again, not continued').to.be.greaterThan(200)
    } finally {
      await proxy.stop()
    }
  })

  it('loses its connection with batches of a transaction in flight: every record once, in order (case 20)', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(3_000, 0, 'same'))
    const proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
    try {
      // The broker has taken the batch; its answer, and those of what follows it, never arrive.
      const cut = proxy.rule({ api: 'Produce', direction: 'response', times: 3, action: { type: 'reset' } })
      const application = copyOf(input, { servers: proxy.bootstrapServers, kafka: { 'batch.size': 2_000 } })
      await room().start(application)
      await room().untilOffsets(application.id, input, [3_000])
      expect(cut.fired.length).to.equal(3)
      expect(await room().values(`${input}-out`)).to.deep.equal(texts(3_000))
      expect(await room().openTransactions(application.id)).to.deep.equal([])
    } finally {
      await proxy.stop()
    }
  })

  it('leaves no internal topic and no state behind, made and reset ten times (case 56)', async () => {
    const input = await room().topic('in', 2)
    const application: CaseApplication = {
      ...copyOf(input),
      steps: { counts: { from: 'in', groupBy: 'value', count: {} } },
      sinks: { out: { from: 'counts', topic: `${input}-out` } },
    }
    const folder = await room().folder({ 'app.yaml': room().yaml(application) })
    const run = async (...argv: string[]): Promise<void> => {
      const io = new CommandCapture()
      const place = [`${folder}/app.yaml`, '--set', `streams.state.dir=${folder}/state`]
      const code = await runCommandLine([...argv, ...place], { version: '0', commands: COMMANDS }, io)
      expect(code, io.stderr.join('\n')).to.equal(0)
    }
    const own = async (): Promise<string[]> =>
      (await room().admin.listTopics()).map(({ name }) => name).filter(name => name.startsWith(application.id))
    for (let round = 0; round < 10; round += 1) {
      await run('topics')
      expect((await own()).toSorted()).to.deep.equal([
        `${application.id}-counts-changelog`,
        `${application.id}-counts-repartition`,
      ])
      await run('reset', '--execute')
      expect(await own(), `after round ${String(round)}`).to.deep.equal([])
    }
    expect(await room().offsets(application.id, input, 2)).to.deep.equal([0, 0])
  })
})
