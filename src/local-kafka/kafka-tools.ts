import { spawn } from 'node:child_process'
import { delimiter } from 'node:path'
import { MillraceError } from '../model/errors.ts'
import { nearestName } from '../model/nearest-name.ts'
import { provideTools } from './jars.ts'

interface KafkaTool {
  /** Java class that Kafka's script of that name starts. */
  readonly main: string
  /** Whether it takes `--bootstrap-server`. */
  readonly asksBrokers: boolean
}

/** Kafka's own command-line tools, by the names of their scripts without `.sh`. */
export const KAFKA_TOOLS: Readonly<Record<string, KafkaTool>> = {
  'kafka-topics': tool('TopicCommand'),
  'kafka-console-producer': tool('ConsoleProducer'),
  'kafka-console-consumer': tool('consumer.ConsoleConsumer'),
  'kafka-consumer-groups': tool('consumer.group.ConsumerGroupCommand'),
  'kafka-groups': tool('GroupsCommand'),
  'kafka-get-offsets': tool('GetOffsetShell'),
  'kafka-configs': tool('ConfigCommand'),
  'kafka-acls': tool('AclCommand'),
  'kafka-transactions': tool('TransactionsCommand'),
  'kafka-delete-records': tool('DeleteRecordsCommand'),
  'kafka-features': tool('FeatureCommand'),
  'kafka-log-dirs': tool('LogDirsCommand'),
  'kafka-dump-log': { ...tool('DumpLogSegments'), asksBrokers: false },
}

function tool(name: string): KafkaTool {
  return { main: `org.apache.kafka.tools.${name}`, asksBrokers: true }
}

/** Where a tool of Kafka's runs. */
export interface ToolPlace {
  /** Asked where the arguments name no `--bootstrap-server`. */
  readonly bootstrapServers: string | undefined
  readonly onProgress: (line: string) => void
}

/**
 * Runs a command-line tool of Kafka's on the terminal of this process, and gives its exit code.
 *
 * @throws MillraceError `USAGE` for a tool that is not there, `LOCAL_KAFKA_UNAVAILABLE` without Java or its jar
 */
export async function runKafkaTool(name: string, args: readonly string[], place: ToolPlace): Promise<number> {
  const found = KAFKA_TOOLS[name.replace(/\.sh$/, '')]
  if (found === undefined) {
    const nearest = nearestName(name, Object.keys(KAFKA_TOOLS))
    throw new MillraceError('USAGE', {
      what: `There is no tool "${name}".`,
      action: nearest === undefined ? `There are ${Object.keys(KAFKA_TOOLS).join(', ')}.` : `Did you mean ${nearest}?`,
    })
  }
  const { java, jars } = await provideTools('4.4.0', place.onProgress)
  const child = spawn(
    java.command,
    [
      '-XX:TieredStopAtLevel=1',
      // Kafka's clients tell all their settings at the level below.
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
      '-cp',
      jars.join(delimiter),
      found.main,
      ...withServers(args, found, place.bootstrapServers),
    ],
    { stdio: 'inherit' },
  )
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => {
      resolve(code ?? 1)
    })
  })
}

/** The arguments with the servers to ask, unless they name some or ask for help. */
function withServers(args: readonly string[], { asksBrokers }: KafkaTool, servers: string | undefined): string[] {
  const named = args.some(arg => /^--(?:bootstrap-(?:server|controller)|help|version)(?:=|$)/.test(arg))
  // Before the rest: some tools take it in front of their own commands only.
  return asksBrokers && servers !== undefined && !named ? ['--bootstrap-server', servers, ...args] : [...args]
}
