/** Who commits: the group fences everyone whose three values are not the current ones (KIP-447). Kafka: `ConsumerGroupMetadata`. */
export interface GroupMembership {
  readonly generationId: number
  readonly memberId: string
  /** `null` for a dynamic member. */
  readonly groupInstanceId: string | null
}
