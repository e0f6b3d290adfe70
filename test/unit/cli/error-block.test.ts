import { expect } from 'chai'
import { errorBlock } from '../../../src/cli/error-block.ts'
import { ProblemList } from '../../../src/config/problems.ts'
import { MillraceError } from '../../../src/model/errors.ts'

describe('error block', () => {
  it('shows mistakes of a configuration as they count themselves, without a frame around them', () => {
    const problems = new ProblemList()
    problems.add(undefined, 'unknown key "agregate"', 'did you mean "aggregate"?')
    let block = ''
    try {
      problems.throwIfAny()
    } catch (error) {
      block = errorBlock(error)
    }
    expect(block).to.match(/^unknown key "agregate"/)
    expect(block).to.match(/1 error\. Nothing was started\.$/)
  })

  it('follows the chain of causes and leaves out what only repeats', () => {
    const root = new Error('ECONNREFUSED 127.0.0.1:9092')
    const block = errorBlock(
      new MillraceError('BROKER_UNREACHABLE', {
        what: 'No broker answered: the last failure was x',
        cause: new Error('the last failure was x', { cause: root }),
      }),
    )
    expect(block).to.include('ECONNREFUSED')
    expect(block.match(/the last failure was x/g)).to.have.length(1)
  })

  it('calls any other thrown value a fault of millrace', () => {
    expect(errorBlock(new TypeError('x is not a function'))).to.match(/x is not a function[\s\S]*INTERNAL/)
  })
})
