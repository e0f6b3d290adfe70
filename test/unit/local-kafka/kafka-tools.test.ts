import { expect } from 'chai'
import { runKafkaTool } from '../../../src/local-kafka/kafka-tools.ts'
import { rejectionOf } from '../../support/rejection.ts'

const place = { bootstrapServers: undefined, onProgress: () => undefined }

describe("Kafka's own tools", () => {
  it('are named as their scripts are; another name is answered with the nearest, or all of them', async () => {
    const near = await rejectionOf(runKafkaTool('kafka-topic.sh', [], place))
    expect([near.code, near.action]).to.deep.equal(['USAGE', 'Did you mean kafka-topics?'])
    const none = await rejectionOf(runKafkaTool('', [], place))
    expect(none.action).to.contain('kafka-topics, ').and.to.contain('kafka-consumer-groups')
  })
})
