import { expect } from 'chai'
import { counted } from '../../../src/model/counted.ts'

describe('a number with its noun', () => {
  it('is one of them, or several', () => {
    expect([0, 1, 2].map(number => counted(number, 'member'))).to.deep.equal(['0 members', '1 member', '2 members'])
    expect(counted(1, 'subtopology', 'subtopologies')).to.equal('1 subtopology')
    expect(counted(3, 'subtopology', 'subtopologies')).to.equal('3 subtopologies')
  })
})
