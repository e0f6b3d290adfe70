import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { complaintAbout, MutantFolder, occurrencesOf } from './mutant.ts'
import { MUTATIONS } from './mutations.ts'

describe('seeded bugs', () => {
  it('stand in the table with a text that is in the sources exactly once', () => {
    const wrong = MUTATIONS.filter(mutation => occurrencesOf(mutation) !== 1)
    expect(wrong.map(mutation => `${mutation.name}: ${String(occurrencesOf(mutation))} times`)).to.deep.equal([])
  })

  it('have names of their own, and tests that exist', () => {
    expect(new Set(MUTATIONS.map(({ name }) => name)).size).to.equal(MUTATIONS.length)
    const files = MUTATIONS.flatMap(({ caughtBy }) => caughtBy.map(({ file }) => file))
    const missing = files.filter(file => !existsSync(fileURLToPath(new URL(`../${file}.test.js`, import.meta.url))))
    expect(missing).to.deep.equal([])
    expect(MUTATIONS.filter(({ caughtBy }) => caughtBy.length === 0)).to.deep.equal([])
  })

  describe('are found (the quick ones; npm run test:mutations has all of them):', function () {
    this.timeout(120_000)
    let folder: MutantFolder

    before(() => {
      folder = new MutantFolder(`quick-${String(process.pid)}`)
    })

    after(() => {
      folder.remove()
    })

    for (const mutation of MUTATIONS.filter(({ cheap }) => cheap === true)) {
      it(mutation.bug, async () => {
        for (const catcher of mutation.caughtBy) {
          const run = await folder.with(mutation, () => folder.run(catcher))
          expect(complaintAbout(run, catcher), run.output).to.equal(undefined)
        }
      })
    }
  })
})
