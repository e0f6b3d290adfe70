import type { Places } from '../pipeline.ts'
import type { ContenderName, Scenario, WorkloadName } from '../scenario.ts'

/** A command to start. */
export interface Launch {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Someone who does the work, as a process of their own. */
export interface Contender {
  readonly name: ContenderName
  readonly title: string
  /** How it is set up, for the reader of the results. */
  readonly settings: string
  /** Workloads it can do. */
  readonly workloads: readonly WorkloadName[]
  /** What tells how far it is: the offsets its group has committed, or for want of a group the end of the output. */
  readonly progress: 'group' | 'output'
  /** @param folder - for its files; removed after the run */
  launch(scenario: Scenario, places: Places, folder: string): Promise<Launch>
}
