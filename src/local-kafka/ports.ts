import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { MillraceError } from '../model/errors.ts'
import { unavailable } from './unavailable.ts'

/**
 * Below the range from which systems take ports of outgoing connections: a stopped broker's port stays free until that
 * broker starts again.
 */
const PORT_MIN = 20_000
const PORT_MAX = 32_000
const ATTEMPTS_MAX = 1_000

/** Picks loopback ports that nobody listens on. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  for (let attempt = 0; attempt < ATTEMPTS_MAX && ports.size < count; attempt += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX)
    if (!ports.has(port) && (await isFree(port))) ports.add(port)
  }
  if (ports.size < count) throw unavailable('There is no free port on the loopback interface.')
  return [...ports]
}

/**
 * Checks a loopback port that somebody has chosen.
 *
 * @throws LOCAL_KAFKA_UNAVAILABLE when something listens there
 */
export async function requireFreePort(port: number): Promise<void> {
  if (await isFree(port)) return
  throw new MillraceError('LOCAL_KAFKA_UNAVAILABLE', {
    what: `Port ${String(port)} of 127.0.0.1 is taken, or may not be listened to.`,
    action: 'Choose another port, or end what listens there.',
  })
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => {
      resolve(false)
    })
    server.listen(port, '127.0.0.1', () => {
      server.close(() => {
        resolve(true)
      })
    })
  })
}
