import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** How a command ended, and what it said. */
export interface CommandRun {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs a file with Node.js to its end. */
export async function runNode(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandRun> {
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, err }
}
