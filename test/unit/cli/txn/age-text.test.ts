import { expect } from 'chai'
import { ageText } from '../../../../src/cli/txn/age-text.ts'

describe('the age of a transaction', () => {
  it('is shown in its two largest units', () => {
    expect(ageText(0)).to.equal('0.0s')
    expect(ageText(-5), 'clocks differ').to.equal('0.0s')
    expect(ageText(59_940)).to.equal('59.9s')
    expect(ageText(60_000)).to.equal('1m 0s')
    expect(ageText(725_000)).to.equal('12m 5s')
    expect(ageText(10_800_000)).to.equal('3h 0m')
    expect(ageText(198_000_000)).to.equal('2d 7h')
  })
})
