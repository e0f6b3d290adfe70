import type { EngineConfig } from '../config/engine-config.ts'
import type { ProcessIdentity } from './process-identity.ts'
import type { ThreadIdentity } from './thread-parts.ts'

/** Both ids are made of one name: a new transactional id alone would wait for the old transaction's timeout. */
export function threadIdentity(
  { applicationId, groupInstanceId, clientId }: Pick<EngineConfig, 'applicationId' | 'groupInstanceId' | 'clientId'>,
  { processId }: Pick<ProcessIdentity, 'processId'>,
  slot: number,
): ThreadIdentity {
  const name = groupInstanceId ?? processId
  return {
    processId,
    groupInstanceId: `${name}-${String(slot)}`,
    transactionalId: `${applicationId}-${name}-${String(slot)}`,
    clientId: `${clientId}-${String(slot)}`,
  }
}
