import { expect } from 'chai'
import { PartitionLane } from '../../../../src/kafka/producer/partition-lane.ts'

describe('partition lane', () => {
  it('numbers batches by the records before them', () => {
    const lane = new PartitionLane('out', 0)
    expect([lane.takeSequence(10), lane.takeSequence(1), lane.takeSequence(5)]).to.deep.equal([0, 10, 11])
  })

  it('goes from 2^31 − 1 to 0, within a batch too', () => {
    const lane = new PartitionLane('out', 0)
    lane.restartSequence(2 ** 31 - 3)
    expect([lane.takeSequence(2), lane.takeSequence(3), lane.takeSequence(1)]).to.deep.equal([
      2 ** 31 - 3,
      2 ** 31 - 1,
      2,
    ])
  })

  it('counts from 0 again with a new epoch', () => {
    const lane = new PartitionLane('out', 0)
    lane.takeSequence(10)
    lane.restartSequence()
    expect(lane.takeSequence(1)).to.equal(0)
  })
})
