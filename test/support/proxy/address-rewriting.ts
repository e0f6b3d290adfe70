import type { ApiName, ResponseBodies } from '../../../src/kafka/protocol/api.ts'

/** A broker as a response names it. */
export interface BrokerAddress {
  readonly nodeId: number
  readonly host: string
  readonly port: number
}

/** Gives a broker's address as clients of the proxy see it. */
export type Readdress = (broker: BrokerAddress) => Promise<{ readonly host: string; readonly port: number }>

type Rewriter<A extends ApiName> = (
  response: ResponseBodies[A],
  readdress: Readdress,
) => Promise<ResponseBodies[A] | undefined>

/** Every response that names a broker's host and port; undefined: nothing to change. */
const REWRITERS: { readonly [A in ApiName]?: Rewriter<A> } = {
  Metadata: async (response, readdress) => ({
    ...response,
    brokers: await Promise.all(response.brokers.map(async broker => ({ ...broker, ...(await readdress(broker)) }))),
  }),
  DescribeCluster: async (response, readdress) => ({
    ...response,
    brokers: await Promise.all(
      response.brokers.map(async broker => ({
        ...broker,
        ...(await readdress({ nodeId: broker.brokerId, host: broker.host, port: broker.port })),
      })),
    ),
  }),
  FindCoordinator: async (response, readdress) => ({
    ...response,
    ...(response.host === '' ? {} : await readdress(response)),
    coordinators: await Promise.all(
      response.coordinators.map(async one => (one.host === '' ? one : { ...one, ...(await readdress(one)) })),
    ),
  }),
  // Named only beside an error about the leader (KIP-951).
  Fetch: async (response, readdress) =>
    response.nodeEndpoints.length === 0
      ? undefined
      : { ...response, nodeEndpoints: await rewriteEndpoints(response.nodeEndpoints, readdress) },
  Produce: async (response, readdress) =>
    response.nodeEndpoints.length === 0
      ? undefined
      : { ...response, nodeEndpoints: await rewriteEndpoints(response.nodeEndpoints, readdress) },
}

/** Whether responses to that request name addresses. */
export function namesAddresses(api: ApiName): boolean {
  return REWRITERS[api] !== undefined
}

/** The response with the proxy's addresses instead of the brokers'; undefined when it names none. */
export async function rewriteAddresses<A extends ApiName>(
  api: A,
  response: ResponseBodies[A],
  readdress: Readdress,
): Promise<ResponseBodies[A] | undefined> {
  const rewriter: Rewriter<A> | undefined = REWRITERS[api]
  return rewriter?.(response, readdress)
}

async function rewriteEndpoints<E extends BrokerAddress>(endpoints: readonly E[], readdress: Readdress): Promise<E[]> {
  return Promise.all(endpoints.map(async endpoint => ({ ...endpoint, ...(await readdress(endpoint)) })))
}
