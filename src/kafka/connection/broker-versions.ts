import { MillraceError } from '../../model/errors.ts'
import { apiKeyOf, versionsOf } from '../protocol/api.ts'
import type { ApiName, ResponseBodies } from '../protocol/messages.generated.ts'

/** Versions of one API, both ends included. */
export interface VersionRange {
  readonly min: number
  readonly max: number
}

/**
 * The highest version of each API that millrace was built and tested against. Above them are versions that only
 * brokers may send (AddPartitionsToTxn 4), that are unstable (InitProducerId 6), or that replace topic names by ids.
 */
const CAPS: Readonly<Record<ApiName, number>> = {
  Produce: 12,
  Fetch: 17,
  ListOffsets: 7,
  Metadata: 12,
  OffsetCommit: 9,
  OffsetFetch: 9,
  FindCoordinator: 4,
  JoinGroup: 9,
  Heartbeat: 4,
  LeaveGroup: 5,
  SyncGroup: 5,
  DescribeGroups: 5,
  ListGroups: 4,
  SaslHandshake: 1,
  ApiVersions: 4,
  CreateTopics: 7,
  DeleteTopics: 6,
  DeleteRecords: 2,
  InitProducerId: 5,
  OffsetForLeaderEpoch: 4,
  AddPartitionsToTxn: 3,
  AddOffsetsToTxn: 3,
  EndTxn: 5,
  WriteTxnMarkers: 1,
  TxnOffsetCommit: 5,
  DescribeConfigs: 4,
  SaslAuthenticate: 2,
  CreatePartitions: 3,
  DeleteGroups: 2,
  IncrementalAlterConfigs: 1,
  DescribeCluster: 1,
  DescribeProducers: 0,
  DescribeTransactions: 0,
  ListTransactions: 1,
  ConsumerGroupHeartbeat: 1,
  StreamsGroupHeartbeat: 0,
}

/** `transaction.version` from which the requests of KIP-890's second part are understood. */
const TRANSACTION_VERSION_2 = 2

/**
 * The highest versions where `transaction.version` is below 2. A broker offers the later ones all the same; one such
 * request wedges the transactional id, so the version list proves nothing and only the finalized feature counts.
 */
const CAPS_BEFORE_TRANSACTION_VERSION_2: Partial<Readonly<Record<ApiName, number>>> = {
  Produce: 11,
  InitProducerId: 4,
  TxnOffsetCommit: 4,
  EndTxn: 4,
}

/** What exactly-once needs (KIP-447) and static membership (KIP-345): brokers from 2.5 on have all of it. */
const FLOORS: readonly (readonly [ApiName, number])[] = [
  ['InitProducerId', 3],
  ['TxnOffsetCommit', 3],
  ['OffsetFetch', 7],
  ['JoinGroup', 5],
]

/** What one broker understands, as it said when the connection was opened. Kafka: `NodeApiVersions`. */
export class BrokerVersions {
  /** Level of each feature that the whole cluster has agreed on, such as `transaction.version`. */
  readonly finalizedFeatures: ReadonlyMap<string, number>
  /** Grows with each change of the features; −1 when the broker knows none. */
  readonly finalizedFeaturesEpoch: number
  readonly #ranges: ReadonlyMap<number, VersionRange>

  constructor(response: ResponseBodies['ApiVersions']) {
    this.#ranges = new Map(
      response.apiKeys.map(({ apiKey, minVersion, maxVersion }) => [apiKey, { min: minVersion, max: maxVersion }]),
    )
    this.finalizedFeatures = new Map(
      response.finalizedFeatures.map(({ name, maxVersionLevel }) => [name, maxVersionLevel]),
    )
    this.finalizedFeaturesEpoch = response.finalizedFeaturesEpoch
  }

  /** The cluster's `transaction.version`; absent means 0. */
  get transactionVersion(): number {
    return this.finalizedFeatures.get('transaction.version') ?? 0
  }

  /** What the broker offers; `undefined` when it does not know the API. */
  range(api: ApiName): VersionRange | undefined {
    return this.#ranges.get(apiKeyOf(api))
  }

  /**
   * The highest version that both sides know and that is safe with the cluster's `transaction.version`.
   *
   * @param cap - a lower bound of the caller's own
   * @returns `undefined` when there is none
   */
  best(api: ApiName, cap = Number.MAX_SAFE_INTEGER): number | undefined {
    const range = this.range(api)
    if (range === undefined) return undefined
    const ours = versionsOf(api)
    const best = Math.min(cap, this.#highestSafe(api), ours.max, range.max)
    return best < ours.min || best < range.min ? undefined : best
  }

  /** Whether a request of that version is safe with the `transaction.version` this broker told. */
  mayBeSent(api: ApiName, version: number): boolean {
    return version <= this.#highestSafe(api)
  }

  #highestSafe(api: ApiName): number {
    const early = this.transactionVersion < TRANSACTION_VERSION_2 ? CAPS_BEFORE_TRANSACTION_VERSION_2[api] : undefined
    return early ?? CAPS[api]
  }

  /**
   * @param broker - named in the message, `host:port`
   * @throws MillraceError `BROKER_TOO_OLD` when the broker lacks what exactly-once needs
   */
  checkFloors(broker: string): void {
    for (const [api, floor] of FLOORS) {
      const offered = this.range(api)
      if (offered !== undefined && offered.max >= floor) continue
      const has = offered === undefined ? 'does not know it' : `has version ${String(offered.max)}`
      throw new MillraceError('BROKER_TOO_OLD', {
        what: `Exactly-once needs ${api} version ${String(floor)} or later, and the broker ${broker} ${has}: Kafka 2.5 is the oldest that will do.`,
      })
    }
  }
}
