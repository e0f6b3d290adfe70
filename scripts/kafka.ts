/**
 * A local Kafka for development: `npm run kafka -- start | stop | status`.
 */
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { backgroundKafka, holdKafka, startInBackground, stopInBackground } from '../src/local-kafka/background.ts'
import type { LocalKafkaOptions } from '../src/local-kafka/options.ts'
import { asMillraceError } from '../src/model/errors.ts'

const USAGE = `Usage: npm run kafka -- start | stop | status [options]

  start    starts Kafka in the background and prints its address
           (KAFKA_BOOTSTRAP_SERVERS if set, else Docker, else Java)
  stop     ends it and removes its data
  status   prints its address; exit code 1 when none runs

  --nodes 1|3                    number of brokers           (1)
  --version 4.4.0|3.9.1          Kafka's version             (4.4.0)
  --transaction-version 0|2      finalized feature level     (2; 0 with 3.9.1)
  --security none|sasl_ssl       TLS and SCRAM for clients   (none)
  --acl                          with sasl_ssl: refuse what no ACL allows
  --test                         short session timeouts, as the tests use
  --jvm fast|throughput          quick to start, or for measuring (fast)
`

async function main(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      nodes: { type: 'string' },
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
  const version = choice('version', values.version, { '4.4.0': '4.4.0', '3.9.1': '3.9.1' } as const)
  const transactionVersion = choice('transaction-version', values['transaction-version'], { '0': 0, '2': 2 } as const)
  const security = choice('security', values.security, { none: 'none', sasl_ssl: 'sasl_ssl' } as const)
  const jvm = choice('jvm', values.jvm, { fast: 'fast', throughput: 'throughput' } as const)
  const options: LocalKafkaOptions = {
    ...(nodes === undefined ? {} : { nodes }),
    ...(version === undefined ? {} : { version }),
    ...(transactionVersion === undefined ? {} : { transactionVersion }),
    ...(security === undefined ? {} : { security }),
    ...(jvm === undefined ? {} : { jvm }),
    acl: values.acl === true,
    test: values.test === true,
  }
  const command = positionals.length === 1 && values.help !== true ? positionals[0] : ''
  switch (command ?? '') {
    case 'start': {
      const started = await startInBackground(fileURLToPath(import.meta.url), argv.slice(1), line => {
        console.error(line)
      })
      console.log(started.bootstrapServers)
      return 0
    }
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
