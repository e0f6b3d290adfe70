import { join } from 'node:path'
import { assert } from '../../model/assert.ts'
import { systemClock } from '../../engine/system-clock.ts'
import { provideKafka } from '../../local-kafka/kafka-provider.ts'
import { packageRoot } from '../../local-kafka/package-root.ts'
import type { CommandIo } from '../command-io.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { runDemo, type DemoOptions } from './demo.ts'

/** `millrace demo`. @returns the exit code: 0 only for exactly once */
export async function demonstrate(
  options: Pick<DemoOptions, 'seed' | 'records' | 'kills' | 'guarantee'>,
  io: CommandIo,
): Promise<number> {
  const kafka = await provideKafka({
    onProgress: line => {
      io.err(line)
    },
  })
  try {
    const origin = kafka.source === 'given' ? 'given' : `started here, ${kafka.source}`
    io.out(`Kafka: ${kafka.bootstrapServers} (${origin})`)
    const { seed, records, kills, guarantee } = options
    const verdict = await runDemo(kafka, {
      seed,
      records,
      kills,
      guarantee,
      entry: commandFile(),
      yaml: join(packageRoot(), 'config', 'order-totals.yaml'),
      clock: systemClock,
      print: line => {
        io.out(line)
      },
    })
    io.out(JSON.stringify(verdict))
    return verdict.verdict === 'exactly-once' ? EXIT_CODES.ok : EXIT_CODES.failed
  } finally {
    await kafka.stop()
  }
}

/** The file that this process runs, which the demo starts again as its service. */
function commandFile(): string {
  const file = process.argv[1]
  assert(file !== undefined, 'a command has a file')
  return file
}
