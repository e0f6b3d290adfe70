/** Where a command writes, and what it may know of its surroundings. */
export interface CommandIo {
  /** Results, for people and pipes. */
  out(text: string): void
  /** Errors, progress and hints. */
  err(text: string): void
  /** Whether standard error is a terminal, so that progress may be drawn over itself. */
  readonly terminal: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** Calls back at the first SIGTERM or SIGINT, and at each later one; the returned function ends it. */
  onStopSignal(listener: (signal: string) => void): () => void
}

/** The process's own streams and signals. */
export const processIo: CommandIo = {
  out(text) {
    process.stdout.write(`${text}\n`)
  },
  err(text) {
    process.stderr.write(`${text}\n`)
  },
  terminal: process.stderr.isTTY,
  env: process.env,
  onStopSignal(listener) {
    const signals = ['SIGTERM', 'SIGINT'] as const
    const handlers = signals.map(signal => {
      const handler = (): void => {
        listener(signal)
      }
      process.on(signal, handler)
      return () => process.off(signal, handler)
    })
    return () => {
      for (const remove of handlers) remove()
    }
  },
}
