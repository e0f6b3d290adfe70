import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { commandWorks, runCommand } from './command.ts'
import { packageRoot } from './package-root.ts'
import { freePorts, requireFreePort } from './ports.ts'
import { unavailable } from './unavailable.ts'
import { Watchdog } from './watchdog.ts'

/** A Kafka in a container of docker-compose.yml. */
export interface DockerKafka {
  readonly bootstrapServers: string
  stop(): Promise<void>
}

/** Longer than a daemon takes to answer, short enough not to be noticed where there is none. */
const PROBE_TIMEOUT_MS = 3_000
const UP_TIMEOUT_MS = 300_000
const DOWN_TIMEOUT_MS = 60_000

/** Whether a Docker daemon answers, and Compose is there. */
export async function dockerWorks(): Promise<boolean> {
  return (
    (await commandWorks('docker', ['info'], PROBE_TIMEOUT_MS)) &&
    (await commandWorks('docker', ['compose', 'version'], PROBE_TIMEOUT_MS))
  )
}

/**
 * Starts the service `kafka` of docker-compose.yml as a project of its own on a loopback port, a free one unless it is given.
 *
 * @throws LOCAL_KAFKA_UNAVAILABLE with Compose's words when it does not come up
 */
export async function startDockerKafka(
  onProgress: (line: string) => void,
  chosenPort: number | undefined,
): Promise<DockerKafka> {
  if (chosenPort !== undefined) await requireFreePort(chosenPort)
  const port = chosenPort ?? (await freePorts(1))[0]
  const project = `millrace-kafka-${randomBytes(4).toString('hex')}`
  const compose = ['compose', '--project-name', project, '--file', join(packageRoot(), 'docker-compose.yml')]
  const down = [...compose, 'down', '--volumes', '--timeout', '5']
  onProgress('Starting Kafka in a container (docker compose)')
  const watchdog = new Watchdog('', ['docker', ...down])
  const stop = async (): Promise<void> => {
    await runCommand('docker', down, { timeoutMs: DOWN_TIMEOUT_MS })
    watchdog.release()
  }
  const { exitCode, output } = await runCommand('docker', [...compose, 'up', '--detach', '--wait', 'kafka'], {
    timeoutMs: UP_TIMEOUT_MS,
    env: { KAFKA_PORT: String(port) },
  })
  if (exitCode !== 0) {
    await stop()
    throw unavailable(`docker compose could not start Kafka: ${output.slice(-1_500)}`)
  }
  return { bootstrapServers: `127.0.0.1:${String(port)}`, stop }
}
