import { expect } from 'chai'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drawFrom, findTestFiles, ordersOf, type TestOrder } from '../../../scripts/run-tests-files.ts'

const order = (name: string, ...brokers: readonly string[]): TestOrder => ({
  files: [name],
  endsShared: false,
  brokers,
})

describe('orders of test files', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-orders-'))
    await mkdir(join(folder, 'integration', 'faults'), { recursive: true })
  })

  afterEach(async () => {
    await rm(folder, { recursive: true })
  })

  async function ordersWith(files: Readonly<Record<string, string>>): Promise<readonly TestOrder[]> {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    return ordersOf(findTestFiles([folder]))
  }

  it('are the quick files, those with three brokers, then the others, long ones first, each with its brokers', async () => {
    const orders = await ordersWith({
      'quick.test.js': '',
      'integration/a.test.js': `useBroker('tv2')`,
      'integration/b.test.js': `for (const kind of TRANSACTION_BROKERS) useBroker(kind)`,
      'integration/c.test.js': `useBroker('three'); useBroker('secure')`,
      'integration/d.test.js': `useCaseRoom("secure")`,
      'integration/faults/e.test.js': `const KINDS = ['tv2', 'tv0']`,
    })
    const shown = orders.map(({ files, endsShared, brokers }) => [
      files.map(file => file.slice(-9)),
      endsShared,
      brokers,
    ])
    expect(shown).to.deep.equal([
      [['k.test.js'], false, []],
      [['c.test.js'], true, []],
      [['e.test.js'], false, ['tv0']],
      [['a.test.js'], false, []],
      [['b.test.js'], false, ['tv0', '3.9.1']],
      [['d.test.js'], false, ['secure']],
    ])
  })

  it('are drawn so that no kind of broker is started twice while there is other work', () => {
    const waiting = [order('a', 'tv0', '3.9.1'), order('b', 'secure'), order('c')]
    expect(drawFrom(waiting, new Set(), new Set()), 'nobody has any').to.equal(0)
    expect(drawFrom(waiting, new Set(), new Set(['tv0']))).to.equal(1)
    expect(drawFrom(waiting, new Set(['secure']), new Set(['tv0'])), 'its own').to.equal(1)
    expect(drawFrom(waiting, new Set(), new Set(['tv0', 'secure']))).to.equal(2)
    expect(drawFrom(waiting.slice(0, 2), new Set(), new Set(['tv0', 'secure'])), 'rather twice than idle').to.equal(0)
    expect(drawFrom([], new Set(), new Set())).to.equal(-1)
  })
})
