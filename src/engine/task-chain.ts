import type { CurrentRecord } from '../operators/current-record.ts'
import { compileChain, type ChainEntry } from '../topology/compile.ts'
import type { SubtopologyPlan } from '../topology/plan.ts'
import { taskHost } from './task-host.ts'
import type { TaskPorts } from './task-ports.ts'
import type { TaskProcessors } from './task-processors.ts'
import type { TaskStores } from './task-stores.ts'
import type { TaskVariables } from './task-variables.ts'

/** What the graph of a task works with. */
export interface TaskChainParts {
  readonly taskId: string
  readonly ports: TaskPorts
  readonly record: CurrentRecord
  readonly stores: TaskStores
  readonly variables: TaskVariables
  readonly processors: TaskProcessors
  readonly streamTime: () => number
}

/** Compiles the graph of a task over its stores, variables and ports. */
export function compileTask(plan: SubtopologyPlan, parts: TaskChainParts): readonly ChainEntry[] {
  const { taskId, ports, record, stores, variables, processors, streamTime } = parts
  return compileChain(plan, {
    record,
    output: ports.collector,
    host: taskHost({ taskId, applicationId: plan.applicationId, ports, streamTime, processors }),
    logger: ports.logger,
    dropped: (reason, count) => {
      ports.dropped(reason, count, record.cause)
    },
    store: name => stores.keyValue(name),
    windowStore: name => stores.window(name),
    sessionStore: name => stores.session(name),
    suppressStore: name => stores.suppress(name),
    versionedStore: name => stores.versioned(name),
    variable: (name, initial) => variables.declare(name, initial, { kept: true }),
    storeView: definition => stores.view(definition, () => record.view.timestamp),
  })
}
