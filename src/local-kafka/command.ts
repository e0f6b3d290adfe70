import { spawn } from 'node:child_process'

/** How a command ended. */
export interface CommandResult {
  /** Its exit code; −1 when it could not be started, was ended by a signal, or ran out of time. */
  readonly exitCode: number
  /** Standard output and standard error together, the last part when it is long. */
  readonly output: string
}

/** How a command is run. */
export interface CommandOptions {
  readonly timeoutMs: number
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

const OUTPUT_CHARACTERS_MAX = 65_536

/** Runs a command to its end, without a shell and without input; never rejects. */
export function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  return new Promise(resolve => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    })
    let output = ''
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-OUTPUT_CHARACTERS_MAX)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    const deadline = setTimeout(() => {
      output += `\n${command} did not end within ${String(options.timeoutMs)} ms`
      child.kill('SIGKILL')
    }, options.timeoutMs)
    child.on('error', error => {
      clearTimeout(deadline)
      resolve({ exitCode: -1, output: error.message })
    })
    child.on('close', code => {
      clearTimeout(deadline)
      resolve({ exitCode: code ?? -1, output: output.trim() })
    })
  })
}

/** Whether a command can be started at all. */
export async function commandWorks(command: string, args: readonly string[], timeoutMs = 10_000): Promise<boolean> {
  return (await runCommand(command, args, { timeoutMs })).exitCode === 0
}
