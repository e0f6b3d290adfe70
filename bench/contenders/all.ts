import type { ContenderName } from '../scenario.ts'
import type { Contender } from './contender.ts'
import { jvm, streams, streamsRocksDb, streamsTuned } from './java.ts'
import { millrace, millraceAtLeastOnce, millraceTuned } from './millrace.ts'
import { kafkajs, raw } from './programs.ts'

/** Every contender by name. */
export const CONTENDERS: Readonly<Record<ContenderName, Contender>> = {
  millrace,
  streams,
  'millrace-tuned': millraceTuned,
  'streams-tuned': streamsTuned,
  'streams-rocksdb': streamsRocksDb,
  'millrace-at-least-once': millraceAtLeastOnce,
  kafkajs,
  jvm,
  raw,
}
