/**
 * A local Kafka for development: `npm run kafka -- start | stop | status | tool`.
 */
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { backgroundKafka, holdKafka, startInBackground, stopInBackground } from '../src/local-kafka/background.ts'
import { KAFKA_TOOLS, runKafkaTool } from '../src/local-kafka/kafka-tools.ts'
import { requireFreePort } from '../src/local-kafka/ports.ts'
import type { LocalKafkaOptions } from '../src/local-kafka/options.ts'
import { asMillraceError } from '../src/model/errors.ts'

const USAGE = `Usage: npm run kafka -- start | stop | status [options]
       npm run kafka -- tool <name> [its arguments]

  start    starts Kafka in the background and prints its address
           (KAFKA_BOOTSTRAP_SERVERS if set, else Docker, else Java)
  stop     ends it and removes its data
  status   prints its address; exit code 1 when none runs
  tool     runs a command-line tool of Kafka's own on it (Java; fetched once), such as
           tool kafka-topics --create --topic lines --partitions 4
           tool kafka-console-producer --topic lines
           tool kafka-console-consumer --topic words --from-beginning
           tool kafka-consumer-groups --describe --all-groups
           With --bootstrap-server on another one. <name> is one of
           ${Object.keys(KAFKA_TOOLS).join(', ')}

  --nodes 1|3                    number of brokers           (1)
  --port 9092                    port of the first one       (a free one)
  --version 4.4.0|3.9.1          Kafka's version             (4.4.0)
  --transaction-version 0|2      finalized feature level     (2; 0 with 3.9.1)
  --security none|sasl_ssl       TLS and SCRAM for clients   (none)
  --acl                          with sasl_ssl: refuse what no ACL allows
  --test                         short session timeouts, as the tests use
  --jvm fast|throughput          quick to start, or for measuring (fast)
`

async function main(argv: readonly string[]): Promise<number> {
  // What follows the name is the tool's own.
  if (argv[0] === 'tool') return runTool(argv.slice(1))
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      nodes: { type: 'string' },
      port: { type: 'string' },
      version: { type: 'string' },
      'transaction-version': { type: 'string' },
      security: { type: 'string' },
      acl: { type: 'boolean' },
      test: { type: 'boolean' },
      jvm: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  const nodes = choice('nodes', values.nodes, { '1': 1, '3': 3 } as const)
  const port = portOf(values.port)
  const version = choice('version', values.version, { '4.4.0': '4.4.0', '3.9.1': '3.9.1' } as const)
  const transactionVersion = choice('transaction-version', values['transaction-version'], { '0': 0, '2': 2 } as const)
  const security = choice('security', values.security, { none: 'none', sasl_ssl: 'sasl_ssl' } as const)
  const jvm = choice('jvm', values.jvm, { fast: 'fast', throughput: 'throughput' } as const)
  const options: LocalKafkaOptions = {
    ...(nodes === undefined ? {} : { nodes }),
    ...(port === undefined ? {} : { port }),
    ...(version === undefined ? {} : { version }),
    ...(transactionVersion === undefined ? {} : { transactionVersion }),
    ...(security === undefined ? {} : { security }),
    ...(jvm === undefined ? {} : { jvm }),
    acl: values.acl === true,
    test: values.test === true,
  }
  const command = positionals.length === 1 && values.help !== true ? positionals[0] : ''
  switch (command ?? '') {
    case 'start':
      if (port !== undefined) await requireChosen(port)
      await start(argv.slice(1))
      return 0
    case 'stop':
      console.error((await stopInBackground()) ? 'Stopped.' : 'None was running.')
      return 0
    case 'status': {
      const running = await backgroundKafka()
      console.log(running?.state === 'running' ? `${running.bootstrapServers} (${running.source})` : 'not running')
      return running?.state === 'running' ? 0 : 1
    }
    case 'serve':
      await holdKafka(options)
      return 0
    default:
      console.error(USAGE)
      return values.help === true ? 0 : 2
  }
}

async function start(options: readonly string[]): Promise<void> {
  const started = await startInBackground(fileURLToPath(import.meta.url), options, line => {
    console.error(line)
  })
  if (started.source === 'given') {
    console.error('KAFKA_BOOTSTRAP_SERVERS is set: this is that one, none was started. Unset it to start one.')
  }
  console.log(started.bootstrapServers)
}

async function runTool([name = '', ...args]: readonly string[]): Promise<number> {
  const given = process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? ''
  const running = await backgroundKafka()
  const own = running?.state === 'running' ? running.bootstrapServers : undefined
  return runKafkaTool(name, args, {
    bootstrapServers: given === '' ? own : given,
    onProgress: line => {
      console.error(line)
    },
  })
}

function portOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const port = Number(given)
  if (/^\d+$/.test(given) && port >= 1 && port <= PORT_MAX) return port
  throw new TypeError(`port: a number from 1 to ${String(PORT_MAX)}`)
}

const PORT_MAX = 65_535

/** Whoever chooses a port wants a Kafka there, not the one that is there already. */
async function requireChosen(port: number): Promise<void> {
  if ((process.env['KAFKA_BOOTSTRAP_SERVERS'] ?? '') !== '') {
    throw new TypeError('port: KAFKA_BOOTSTRAP_SERVERS names a Kafka, so none would be started here; unset it')
  }
  const running = await backgroundKafka()
  if (running === undefined) {
    await requireFreePort(port)
    return
  }
  if (running.bootstrapServers.split(',')[0] !== `127.0.0.1:${String(port)}`) {
    throw new TypeError(`port: one runs already, at ${running.bootstrapServers}; stop it first`)
  }
}

function choice<V>(name: string, given: string | undefined, allowed: Readonly<Record<string, V>>): V | undefined {
  if (given === undefined) return undefined
  const value = allowed[given]
  if (value === undefined) throw new TypeError(`${name}: one of ${Object.keys(allowed).join(', ')}`)
  return value
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  // parseArgs and `choice` speak of wrong options by TypeErrors; their text is the whole message.
  if (error instanceof TypeError) {
    console.error(`${error.message}\n\n${USAGE}`)
    process.exitCode = 2
  } else {
    const known = asMillraceError(error)
    console.error(`${known.message}\n${known.action}`)
    process.exitCode = known.exitCode
  }
}
