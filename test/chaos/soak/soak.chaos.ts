import { expect } from 'chai'
import { writeFile } from 'node:fs/promises'
import { useBroker } from '../../support/broker.ts'
import { SoakRun } from './soak-run.ts'

const hours = Number(process.env['MILLRACE_SOAK_HOURS'] ?? '0.05')
const reportFile = process.env['MILLRACE_SOAK_REPORT']
/** A steady state is reached slowly: collectors of garbage wait, buffers grow to their bounds once. */
const GROWTH_MIB_MAX = 256

describe(`a soak of ${String(hours)} hours`, function () {
  this.timeout(hours * 3_600_000 + 1_800_000)
  const kafka = useBroker('tv2')

  it('crosses the end of the epochs, keeps its memory, and leaves every output as the input demands (F27, I14)', async () => {
    const report = await new SoakRun(kafka(), hours).run()
    const text = JSON.stringify(report, undefined, 2)
    console.log(text)
    if (reportFile !== undefined) await writeFile(reportFile, `${text}\n`)
    expect(report.violations).to.deep.equal([])
    expect(report.epochOverflows, 'transactional ids beyond their last epoch').to.be.greaterThan(0)
    expect(report.memoryEndMib - report.memoryStartMib, 'MiB more at the end').to.be.below(GROWTH_MIB_MAX)
  })
})
