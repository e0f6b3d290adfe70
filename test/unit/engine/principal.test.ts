import { expect } from 'chai'
import { principalOf, withPrincipal } from '../../../src/engine/principal.ts'
import { MillraceError } from '../../../src/model/errors.ts'

const LOGIN = {
  protocol: 'SASL_SSL',
  sasl: { mechanism: 'PLAIN', username: 'alice', password: 'sesame' },
} as const

describe('the principal of a missing right', () => {
  it('is who logs in, whom the certificate names, or nobody', () => {
    expect(principalOf(LOGIN)).to.equal('User:alice')
    expect(principalOf({ protocol: 'SSL' })).to.include('client certificate')
    expect(principalOf({ protocol: 'PLAINTEXT' })).to.equal('User:ANONYMOUS')
  })

  it('stands behind what to grant, once, and changes nothing else', () => {
    const error = new MillraceError('NOT_AUTHORIZED', { topic: 'orders', action: 'Grant Read on the topic orders.' })
    const named = withPrincipal(error, LOGIN)
    expect(named.action).to.equal('Grant Read on the topic orders. The principal is User:alice.')
    expect(named.message).to.equal(error.message)
    expect(named.details.topic).to.equal('orders')
    expect(withPrincipal(named, LOGIN)).to.equal(named)
    expect(JSON.stringify(named)).not.to.include('sesame')
  })

  it('is no matter of other errors', () => {
    const error = new MillraceError('TOPIC_MISSING', { topic: 'orders' })
    expect(withPrincipal(error, LOGIN)).to.equal(error)
  })
})
