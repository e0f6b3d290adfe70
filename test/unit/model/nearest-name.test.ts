import { expect } from 'chai'
import { editDistance, nearestName } from '../../../src/model/nearest-name.ts'

describe('the nearest name', () => {
  it('is found over insertions, deletions, replacements and swaps', () => {
    expect(editDistance('aggregate', 'agregate')).to.equal(1)
    expect(editDistance('value', 'valeu')).to.equal(1)
    expect(editDistance('', 'abc')).to.equal(3)
    expect(nearestName('agregate', ['filter', 'aggregate'])).to.equal('aggregate')
    expect(nearestName('Topic', ['topics', 'topic'])).to.equal('topic')
  })

  it('is none where nothing is near', () => {
    expect(nearestName('zebra', ['topic', 'key'])).to.equal(undefined)
    expect(nearestName('x', [])).to.equal(undefined)
  })
})
