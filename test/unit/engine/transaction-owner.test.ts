import { expect } from 'chai'
import { transactionOwner } from '../../../src/engine/transaction-owner.ts'

describe('the owner of a transactional id', () => {
  it('is the longest group whose name it begins with', () => {
    const groups = ['orders', 'orders-eu', 'payments']
    expect(transactionOwner('orders-a-1', groups)).to.deep.equal({ applicationId: 'orders', instance: 'a-1' })
    expect(transactionOwner('orders-eu-a-1', groups)).to.deep.equal({ applicationId: 'orders-eu', instance: 'a-1' })
  })

  it('is unknown where no group is called so', () => {
    expect(transactionOwner('orders2-a-1', ['orders'])).to.equal(undefined)
    expect(transactionOwner('orders', ['orders'])).to.equal(undefined)
  })
})
