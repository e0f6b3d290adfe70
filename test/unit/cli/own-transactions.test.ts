import { expect } from 'chai'
import { ownTransactions } from '../../../src/cli/own-transactions.ts'

describe('own transactions', () => {
  it('are those of every instance and thread of the application', () => {
    const ids = ['orders-a-1', 'orders-b-2', 'payments-a-1', 'orders2-a-1']

    expect(ownTransactions(ids, 'orders', ['orders', 'payments'])).to.deep.equal(['orders-a-1', 'orders-b-2'])
  })

  it('are not those of an application whose name only begins alike', () => {
    const ids = ['orders-a-1', 'orders-eu-a-1']

    expect(ownTransactions(ids, 'orders', ['orders', 'orders-eu'])).to.deep.equal(['orders-a-1'])
    expect(ownTransactions(ids, 'orders-eu', ['orders', 'orders-eu'])).to.deep.equal(['orders-eu-a-1'])
  })
})
