import type { MillInstance } from '../random/mill-instance.ts'
import type { MillraceProcess } from '../../support/millrace-process.ts'

const TIMEOUT_MS = 5_000

/** Adds up counters of many lives; what a life counted after the last look is not in it. */
export class Odometer {
  readonly #commits = new Map<MillraceProcess, number>()
  readonly #aborts = new Map<MillraceProcess, number>()

  get commits(): number {
    return sum(this.#commits)
  }

  get aborts(): number {
    return sum(this.#aborts)
  }

  /** Reads the metrics of the present lives; one that does not answer keeps what it said last. */
  async look(instances: readonly MillInstance[]): Promise<void> {
    for (const { process } of instances) {
      const served = process?.lines.find(line => line.includes('health and metrics are served'))
      if (process === undefined || served === undefined) continue
      const { port } = JSON.parse(served) as { port: number }
      try {
        const url = `http://127.0.0.1:${String(port)}/metrics`
        const text = await (await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })).text()
        this.#commits.set(process, total(text, 'millrace_commits_total'))
        this.#aborts.set(process, total(text, 'millrace_aborts_total'))
      } catch {
        // It has just ended, or does not serve yet.
      }
    }
  }
}

/** The sum of a counter over all its labels. */
function total(text: string, name: string): number {
  let all = 0
  for (const line of text.split('\n')) {
    if (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) all += Number(line.slice(line.lastIndexOf(' ')))
  }
  return all
}

function sum(counts: ReadonlyMap<MillraceProcess, number>): number {
  return [...counts.values()].reduce((all, one) => all + one, 0)
}
