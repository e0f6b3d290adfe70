import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { useBroker } from '../../support/broker.ts'

const CLI = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

interface DemoRun {
  readonly code: number | null
  readonly output: string
  /** The last line of standard output. */
  readonly verdict: Record<string, unknown>
}

function demo(bootstrapServers: string, ...args: string[]): Promise<DemoRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, 'demo', ...args], {
      env: { ...process.env, KAFKA_BOOTSTRAP_SERVERS: bootstrapServers },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8')
    })
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString('utf8')
    })
    child.once('error', reject)
    child.once('close', code => {
      const last = output.trimEnd().split('\n').at(-1) ?? ''
      if (!last.startsWith('{')) {
        reject(new Error(`no verdict:\n${output}\n${errors}`))
        return
      }
      resolve({ code, output, verdict: JSON.parse(last) as Record<string, unknown> })
    })
  })
}

describe('demo', function () {
  this.timeout(300_000)

  // The older broker does what the newer one does without transaction.version 2.
  for (const kind of ['tv2', '3.9.1'] as const) {
    describe(`on a broker of kind ${kind}`, () => {
      const kafka = useBroker(kind)

      it('comes through kills in the middle of transactions with every value exactly once (I1–I4, I7, I16)', async () => {
        const { code, output, verdict } = await demo(
          kafka().bootstrapServers,
          '--seed',
          '11',
          '--records',
          '4000',
          '--kills',
          '3',
        )
        expect(verdict, output).to.include({
          verdict: 'exactly-once',
          records: 4_000,
          duplicates: 0,
          lost: 0,
          wrong: 0,
        })
        expect(verdict['kills']).to.be.at.least(3)
        expect(verdict['killsInTransaction']).to.be.at.least(3)
        expect(verdict['deadLetters']).to.be.greaterThan(0)
        expect(verdict['abortedTransactions']).to.be.at.least(3)
        expect(code).to.equal(0)
      })
    })
  }

  describe('without exactly-once', () => {
    const kafka = useBroker('tv2')

    it('finds duplicates and says so: the checker can fail', async () => {
      const { code, output, verdict } = await demo(
        kafka().bootstrapServers,
        '--seed',
        '12',
        '--records',
        '4000',
        '--kills',
        '3',
        '--guarantee',
        'at_least_once',
      )
      expect(verdict, output).to.include({ verdict: 'violated', lost: 0 })
      expect(verdict['duplicates']).to.be.greaterThan(0)
      expect(code).to.equal(1)
    })
  })
})
