/**
 * How transactions are spoken: 1 as in KIP-98, 2 as in KIP-890's second part, where every end of a transaction raises the
 * producer's epoch. The version numbers of the requests are the only sign of it on the wire.
 */
export type TransactionProtocol = 1 | 2

/** From this `transaction.version` of the cluster on, protocol 2 is spoken. */
const TRANSACTION_VERSION_2 = 2

/** First and last version of a request that mean one of the protocols. */
export interface SpokenVersions {
  readonly min: number
  readonly max: number
}

/** The requests whose version depends on the protocol. */
export type TransactionApi =
  'InitProducerId' | 'AddPartitionsToTxn' | 'Produce' | 'AddOffsetsToTxn' | 'TxnOffsetCommit' | 'EndTxn'

const SPOKEN: Readonly<Record<TransactionProtocol, Readonly<Record<TransactionApi, SpokenVersions>>>> = {
  1: {
    InitProducerId: { min: 3, max: 4 },
    AddPartitionsToTxn: { min: 0, max: 3 },
    Produce: { min: 3, max: 11 },
    AddOffsetsToTxn: { min: 0, max: 3 },
    TxnOffsetCommit: { min: 3, max: 4 },
    EndTxn: { min: 0, max: 3 },
  },
  2: {
    InitProducerId: { min: 3, max: 5 },
    AddPartitionsToTxn: { min: 0, max: 3 },
    Produce: { min: 12, max: 12 },
    AddOffsetsToTxn: { min: 0, max: 3 },
    TxnOffsetCommit: { min: 5, max: 5 },
    EndTxn: { min: 5, max: 5 },
  },
}

/** The protocol of a cluster with that finalized `transaction.version`. */
export function protocolOf(transactionVersion: number): TransactionProtocol {
  return transactionVersion >= TRANSACTION_VERSION_2 ? 2 : 1
}

/** Which versions of a request mean that protocol. */
export function spokenVersions(protocol: TransactionProtocol, api: TransactionApi): SpokenVersions {
  return SPOKEN[protocol][api]
}
