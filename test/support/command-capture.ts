import type { CommandIo } from '../../src/cli/command-io.ts'

/** A `CommandIo` that keeps what a command writes. */
export class CommandCapture implements CommandIo {
  readonly stdout: string[] = []
  readonly stderr: string[] = []
  readonly terminal = false
  readonly env = {}

  out(text: string): void {
    this.stdout.push(text)
  }

  err(text: string): void {
    this.stderr.push(text)
  }

  onStopSignal(): () => void {
    return () => undefined
  }
}
