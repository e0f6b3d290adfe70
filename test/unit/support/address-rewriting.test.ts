import { expect } from 'chai'
import type { ResponseBodies } from '../../../src/kafka/protocol/api.ts'
import { type Readdress, rewriteAddresses } from '../../support/proxy/address-rewriting.ts'

const readdress: Readdress = ({ nodeId }) => Promise.resolve({ host: 'proxy', port: 7_000 + nodeId })
const ENDPOINT = { nodeId: 2, host: 'broker-2', port: 9_092, rack: null }

describe('the addresses in responses that pass the proxy', () => {
  it('are rewritten where an error names the new leader (KIP-951)', async () => {
    const fetch: ResponseBodies['Fetch'] = {
      throttleTimeMs: 0,
      errorCode: 0,
      sessionId: 0,
      responses: [],
      nodeEndpoints: [ENDPOINT],
    }
    const produce: ResponseBodies['Produce'] = { responses: [], throttleTimeMs: 0, nodeEndpoints: [ENDPOINT] }

    const expected = [{ ...ENDPOINT, host: 'proxy', port: 7_002 }]
    expect((await rewriteAddresses('Fetch', fetch, readdress))?.nodeEndpoints).to.deep.equal(expected)
    expect((await rewriteAddresses('Produce', produce, readdress))?.nodeEndpoints).to.deep.equal(expected)
    expect(await rewriteAddresses('Fetch', { ...fetch, nodeEndpoints: [] }, readdress)).to.equal(undefined)
  })

  it('are rewritten for coordinators that were found, and only for those', async () => {
    const found = { key: 'a', nodeId: 3, host: 'broker-3', port: 9_092, errorCode: 0, errorMessage: null }
    const missing = { key: 'b', nodeId: -1, host: '', port: -1, errorCode: 15, errorMessage: null }
    const response: ResponseBodies['FindCoordinator'] = {
      throttleTimeMs: 0,
      errorCode: 0,
      errorMessage: null,
      nodeId: 0,
      host: '',
      port: 0,
      coordinators: [found, missing],
    }

    const rewritten = await rewriteAddresses('FindCoordinator', response, readdress)

    expect(rewritten?.coordinators).to.deep.equal([{ ...found, host: 'proxy', port: 7_003 }, missing])
    expect(rewritten?.host).to.equal('')
  })

  it('do not stand in other responses', async () => {
    const heartbeat = { throttleTimeMs: 0, errorCode: 0 }

    expect(await rewriteAddresses('Heartbeat', heartbeat, readdress)).to.equal(undefined)
  })
})
