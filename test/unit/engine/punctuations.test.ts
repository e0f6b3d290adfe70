import { expect } from 'chai'
import { Punctuations } from '../../../src/engine/punctuations.ts'
import { TaskVariables } from '../../../src/engine/task-variables.ts'

/** One that is due every 100 ms, and what calls it as a task does: with a savepoint before it. */
function every100(callback: (timestamp: number) => void): {
  variables: TaskVariables
  punctuate: (nowMs: number) => void
} {
  const variables = new TaskVariables()
  const punctuations = new Punctuations('streamTime', variables)
  punctuations.add('node', 100, 100, callback)
  return {
    variables,
    punctuate: nowMs => {
      punctuations.punctuate(nowMs, (_, call) => {
        variables.endRecord()
        call()
        variables.endRecord()
      })
    },
  }
}

describe('punctuations', () => {
  it('are due again after a call that no policy answered, whatever is rolled back meanwhile', () => {
    const called: number[] = []
    let fails = true
    const { variables, punctuate } = every100(timestamp => {
      if (fails) throw new Error('a topic nobody has looked up')
      called.push(timestamp)
    })
    expect(() => {
      punctuate(100)
    }).to.throw('looked up')
    variables.rollbackRecord()
    fails = false
    punctuate(100)
    punctuate(100)
    expect(called).to.deep.equal([100])
  })

  it('make up for missed times by one call, and keep their beat', () => {
    const called: number[] = []
    const { punctuate } = every100(timestamp => called.push(timestamp))
    for (const nowMs of [99, 100, 199, 200, 555, 599, 600]) punctuate(nowMs)
    expect(called).to.deep.equal([100, 200, 555, 600])
  })

  it('are called again when the transaction is aborted that they were called in', () => {
    const called: number[] = []
    const { variables, punctuate } = every100(timestamp => called.push(timestamp))
    punctuate(100)
    variables.abort()
    punctuate(100)
    variables.commit()
    punctuate(100)
    expect(called).to.deep.equal([100, 100])
  })
})
