/** What a graph consists of. Kafka Streams: `TopologyDescription`. */
export interface TopologyDescription {
  /** The parts that are scheduled as tasks. */
  readonly subtopologies: readonly SubtopologyDescription[]
  /** The JVM's text form. */
  toString(): string
}

/** One part of a graph, connected without an internal topic. Kafka Streams: `TopologyDescription.Subtopology`. */
export interface SubtopologyDescription {
  /** Its number, the first part of task ids. */
  readonly id: number
  /** Its nodes in order. */
  readonly nodes: readonly NodeDescription[]
}

/** One node of a graph. Kafka Streams: `TopologyDescription.Node`. */
export interface NodeDescription {
  /** Its name. */
  readonly name: string
  /** What it is. */
  readonly kind: 'source' | 'processor' | 'sink'
  /** Topics it reads or writes. */
  readonly topics: readonly string[]
  /** Stores it uses. */
  readonly stores: readonly string[]
  /** Names of the nodes after it. */
  readonly successors: readonly string[]
  /** Names of the serdes of its output. */
  readonly serdes: { readonly key: string | undefined; readonly value: string | undefined }
}
