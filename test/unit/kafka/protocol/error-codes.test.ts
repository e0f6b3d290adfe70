import { expect } from 'chai'
import { ERROR_CODE, KAFKA_ERRORS, kafkaErrorName } from '../../../../src/kafka/protocol/error-codes.ts'

describe('error codes', () => {
  it('are known without a gap from -1 to 136, each with a name of its own', () => {
    const names = new Set<string>()
    for (let code = -1; code <= 136; code += 1) names.add(KAFKA_ERRORS[code]?.name ?? 'missing')

    expect(names.size).to.equal(138)
    expect(names).not.to.include('missing')
  })

  it('that the clients decide by stand under the names of the table', () => {
    for (const [name, code] of Object.entries(ERROR_CODE)) expect(KAFKA_ERRORS[code]?.name).to.equal(name)
  })

  it('have a name even when a later Kafka added them', () => {
    expect(kafkaErrorName(90)).to.equal('PRODUCER_FENCED')
    expect(kafkaErrorName(9_999)).to.equal('UNKNOWN_9999')
  })
})
