import type { ProvenancePorts } from './task-ports.ts'
import type { TaskRegistry } from './task-registry.ts'
import type { TransactionNumbers } from './transaction-numbers.ts'

/** What a stream thread knows of its transactions and tasks. */
export function provenancePorts(
  numbers: Pick<TransactionNumbers, 'upcoming'>,
  registry: Pick<TaskRegistry, 'inputOf'>,
): ProvenancePorts {
  return {
    transaction: () => numbers.upcoming,
    committed: input => registry.inputOf(input)?.input.rewindTo ?? 0,
  }
}
