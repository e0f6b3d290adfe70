import { expect } from 'chai'
import { spawnSync } from 'node:child_process'

/** Violations that must never pass unnoticed; each is planted in test/lint-samples/. */
const MUST_BE_CAUGHT = [
  'no-floating-promises',
  'no-misused-promises',
  'switch-exhaustiveness-check',
  'no-cycle',
  'no-restricted-imports',
  'no-restricted-globals',
  'no-explicit-any',
  'no-non-null-assertion',
]

describe('lint rules', function () {
  this.timeout(60_000)

  it('catch every planted violation and blame no clean file', () => {
    const { stdout, status } = spawnSync(process.execPath, ['test/lint-samples/check.mjs'], { encoding: 'utf8' })
    expect(stdout).not.to.match(/MISSED|BLAMED/)
    for (const rule of MUST_BE_CAUGHT) expect(stdout).to.match(new RegExp(`^caught .* ${rule}$`, 'm'))
    expect(status).to.equal(0)
  })
})
