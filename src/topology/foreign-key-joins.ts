import {
  joinSubscriptions,
  receiveSubscriptions,
  resolveAnswers,
  sendSubscriptions,
  tellSubscribers,
  type ForeignKeyStep,
} from '../operators/foreign-key-join.ts'
import type { Forward } from '../operators/forward.ts'
import type { JoinStep } from '../operators/stream-table-join.ts'
import { answerSerde, SubscriptionAnswer, subscriptionSerde } from '../operators/subscription.ts'
import { latestOnly } from '../operators/table.ts'
import { NO_HEADERS } from '../model/headers.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { bytes } from '../serdes/text.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import { IGNORES, READS, READS_AND_PASSES, type GraphNode, type NodeCompiler } from './graph-node.ts'
import { union, type ErasedTableOptions, type TableParts } from './parts.ts'
import { addRepartitionSink, addRepartitionSource } from './repartition.ts'
import { addTableSource } from './table-source.ts'

/** Names of all that a foreign-key join consists of, numbered in the JVM's order. */
interface Names {
  readonly registration: string
  readonly send: string
  readonly registrationSink: string
  readonly registrationSource: string
  readonly store: string
  readonly receive: string
  readonly answer: string
  readonly tell: string
  readonly response: string
  readonly responseSink: string
  readonly responseSource: string
  readonly resolve: string
  readonly result: string
}

/** Both tables with the serdes a foreign-key join writes. */
interface Joining {
  readonly left: TableParts
  readonly right: TableParts
  readonly leftValue: AnySerde
  readonly rightValue: AnySerde
  readonly isLeft: boolean
  readonly joiner: JoinStep
  readonly names: Names
}

/**
 * `foreignKeyJoin` and `foreignKeyLeftJoin`: left rows subscribe to right ones through a topic, and are answered through
 * another. Kafka Streams: `KTableImpl.doJoinOnForeignKey` (KIP-213).
 */
export function addForeignKeyJoin(
  left: TableParts,
  right: TableParts,
  foreignKey: ForeignKeyStep,
  joiner: JoinStep,
  options: ErasedTableOptions,
  isLeft: boolean,
): TableParts {
  const { graph, key } = left
  const step = options.name ?? (isLeft ? 'foreignKeyLeftJoin' : 'foreignKeyJoin')
  right.origin.sendOld(true)
  left.origin.sendOld(true)
  const names = namesOf(left, options.name)
  const storeName = options.store ?? graph.numberedStoreName('KTABLE-FK-JOIN-OUTPUT-')
  if (options.name === undefined) graph.numberedResources.push(names.registration, names.store, names.response)
  left.origin.materialize()
  right.origin.materialize()
  const joining: Joining = {
    left,
    right,
    leftValue: valueOf(left, step, 'own'),
    rightValue: valueOf(right, step, 'other'),
    isLeft,
    joiner,
    names,
  }
  const registration = addRegistration(joining, foreignKey)
  const response = addResponse(joining, addSubscriptions(joining, registration))
  const node = addResolver(joining, response)
  const sources = union(left.sources, [response])
  graph.copartitioned.push(sources)
  return addTableSource(graph, {
    parent: node,
    name: names.result,
    storeName,
    isNamed: options.store !== undefined,
    key,
    value: options.value ?? valueOf(left, step, 'result'),
    options,
    sources,
  })
}

function namesOf({ graph }: TableParts, name: string | undefined): Names {
  const named = (suffix: string, prefix: string): string =>
    graph.nameOr(name === undefined ? undefined : `${name}${suffix}`, prefix)
  const registration = named('-subscription-registration', 'KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-')
  const send = named('-subscription-registration-processor', 'KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-')
  const registrationSink = named('-subscription-registration-sink', 'KTABLE-SINK-')
  const registrationSource = named('-subscription-registration-source', 'KTABLE-SOURCE-')
  const store = named('-subscription-store', 'KTABLE-FK-JOIN-SUBSCRIPTION-STATE-STORE-')
  const receive = named('-subscription-receive', 'KTABLE-FK-JOIN-SUBSCRIPTION-PROCESSOR-')
  const answer = named('-subscription-join-foreign', 'KTABLE-FK-JOIN-SUBSCRIPTION-PROCESSOR-')
  const tell = named('-foreign-join-subscription', 'KTABLE-FK-JOIN-SUBSCRIPTION-PROCESSOR-')
  const response = named('-subscription-response', 'KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-')
  const responseSink = named('-subscription-response-sink', 'KTABLE-SINK-')
  const responseSource = named('-subscription-response-source', 'KTABLE-SOURCE-')
  const resolve = named('-subscription-response-resolver', 'KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-RESOLVER-PROCESSOR-')
  const result = named('-result', 'KTABLE-FK-JOIN-OUTPUT-')
  return {
    registration: `${registration}-topic`,
    send,
    registrationSink,
    registrationSource,
    store,
    receive,
    answer,
    tell,
    response: `${response}-topic`,
    responseSink,
    responseSource,
    resolve,
    result,
  }
}

/** The left side: subscriptions go to the partitions of the rows they are to. */
function addRegistration(joining: Joining, foreignKey: ForeignKeyStep): GraphNode {
  const { left, right, leftValue, isLeft, names } = joining
  const { graph, key, origin } = left
  const node = graph.add({
    name: names.send,
    parents: [left.node],
    use: side => ({ ...READS, writes: [side === 'key' ? key : leftValue] }),
    serdes: { key: right.key, value: subscriptionSerde },
    compile: compiler => {
      const topic = compiler.internalTopic(names.registration)
      const send = sendSubscriptions(
        {
          ...compiler.site,
          foreignKey,
          keyBytes: compiler.keyBytes(key, topic),
          valueBytes: compiler.sideBytes('value', leftValue, topic),
          foreignKeyBytes: compiler.newKeyBytes(right.key, topic),
          isLeft,
          dropped: compiler.dropped,
        },
        compiler.next,
      )
      return origin.isVersioned ? latestOnly(compiler.site, compiler.dropped, send) : send
    },
  })
  const topic = { topic: names.registration, key: right.key, value: subscriptionSerde }
  addRepartitionSink(graph, { ...topic, parent: node, base: names.registration, name: names.registrationSink })
  const source = addRepartitionSource(graph, { ...topic, name: names.registrationSource })
  graph.copartitioned.push(union(right.sources, [source]))
  return source
}

/** The right side: subscriptions are kept and answered, at once and at every change. Returns the nodes that answer. */
function addSubscriptions(joining: Joining, source: GraphNode): readonly GraphNode[] {
  const { right, rightValue, names } = joining
  const { graph, key, origin } = right
  const store: StoreDefinition = {
    name: names.store,
    kind: 'timestampedKeyValue',
    logsHeaders: true,
    key: bytes,
    value: bytes,
    // A subscription is answered at once.
    options: { caching: false },
  }
  graph.addStore(store)
  const receive = graph.add({
    name: names.receive,
    parents: [source],
    use: side => (side === 'key' ? { reads: false, passes: true, writes: [key] } : READS_AND_PASSES),
    serdes: { key, value: subscriptionSerde },
    compile: compiler =>
      receiveSubscriptions(
        {
          ...compiler.site,
          store: compiler.store(store.name),
          keyBytes: compiler.keyBytes(key, compiler.changelogTopic(store.name)),
          dropped: compiler.dropped,
        },
        compiler.next,
      ),
  })
  graph.connect(receive, store.name)
  const answer = graph.add({
    name: names.answer,
    parents: [receive],
    use: side => (side === 'key' ? { reads: origin.readsKey, passes: false, writes: [key] } : READS),
    serdes: { key: bytes, value: answerSerde },
    compile: compiler =>
      joinSubscriptions(
        {
          ...compiler.site,
          getter: origin.getter(compiler),
          keyBytes: compiler.keyBytes(key, compiler.changelogTopic(origin.stores()[0] ?? names.answer)),
          valueBytes: newValueBytes(rightValue, compiler.internalTopic(names.response)),
        },
        compiler.next,
      ),
  })
  for (const used of origin.stores()) graph.connectLookUp(answer, used)
  const tell = graph.add({
    name: names.tell,
    parents: [right.node],
    use: side => ({ ...IGNORES, writes: [side === 'key' ? key : rightValue] }),
    serdes: { key: bytes, value: answerSerde },
    compile: compiler => compileTell(joining, compiler),
  })
  graph.connect(tell, store.name)
  return [answer, tell]
}

function compileTell({ right, rightValue, names }: Joining, compiler: NodeCompiler): Forward {
  const tell = tellSubscribers(
    {
      ...compiler.site,
      store: compiler.store(names.store),
      keyBytes: compiler.keyBytes(right.key, compiler.changelogTopic(names.store)),
      valueBytes: compiler.sideBytes('value', rightValue, compiler.internalTopic(names.response)),
      dropped: compiler.dropped,
    },
    compiler.next,
  )
  return right.origin.isVersioned ? latestOnly(compiler.site, compiler.dropped, tell) : tell
}

/** Answers go back to the partition their row lies in, whatever the application's partitioner would say. */
function addResponse({ left, names }: Joining, parents: readonly GraphNode[]): GraphNode {
  const topic = { topic: names.response, value: answerSerde }
  addRepartitionSink(left.graph, {
    ...topic,
    parent: parents,
    base: names.response,
    name: names.responseSink,
    key: bytes,
    partitioner: value => (value instanceof SubscriptionAnswer ? value.primaryPartition : undefined),
  })
  return addRepartitionSource(left.graph, { ...topic, key: left.key, name: names.responseSource })
}

function addResolver(joining: Joining, source: GraphNode): GraphNode {
  const { left, leftValue, rightValue, isLeft, joiner, names } = joining
  const { graph, key, origin } = left
  const node = graph.add({
    name: names.resolve,
    parents: [source],
    use: side => (side === 'key' ? { ...READS_AND_PASSES, writes: [key] } : READS),
    serdes: { key, value: undefined },
    compile: compiler => {
      const serde = erasedSerde(rightValue)
      const context = { topic: compiler.internalTopic(names.response), side: 'value' as const, headers: NO_HEADERS }
      return resolveAnswers(
        {
          ...compiler.site,
          getter: origin.getter(compiler),
          keyBytes: compiler.keyBytes(key, compiler.changelogTopic(origin.stores()[0] ?? names.resolve)),
          valueBytes: newValueBytes(leftValue, compiler.internalTopic(names.registration)),
          foreignValue: held => serde.deserialize(Buffer.from(held), context),
          joiner,
          isLeft,
          dropped: compiler.dropped,
        },
        compiler.next,
      )
    },
  })
  for (const used of origin.stores()) graph.connectLookUp(node, used)
  return node
}

/** Bytes of a value that did not come with the record. */
function newValueBytes(serde: AnySerde, topic: string): (value: unknown) => Uint8Array | null {
  const { serialize } = erasedSerde(serde)
  const context = { topic, side: 'value' as const, headers: NO_HEADERS }
  return value => (value === null ? null : serialize(value, context))
}

function valueOf({ graph, value, node }: TableParts, step: string, which: 'own' | 'other' | 'result'): AnySerde {
  if (value !== undefined && which !== 'result') return withoutNull(value)
  graph.report('SERDE_MISSING', {
    node: step,
    what:
      which === 'result'
        ? `${step} gives a new value, and no serde of it is known.`
        : `${step} sends the value of ${node.name}, and no serde of it is known.`,
    action:
      which === 'result' ? 'Give the step a serde: { value: … }.' : 'State it before with withSerdes({ value: … }).',
  })
  return bytes
}
