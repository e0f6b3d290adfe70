import { MillraceError } from '../model/errors.ts'
import type { EngineConfig } from '../config/engine-config.ts'
import type { Admin } from '../kafka/admin/admin.ts'
import { ifAllowed } from './optional-right.ts'

/**
 * The brokers' bound of `transaction.timeout.ms`, in milliseconds; `undefined` where it may not be read. A broker would
 * refuse InitProducerId with a code that names neither value.
 *
 * @throws MillraceError `CONFIG_CONFLICT` when the configured timeout is above it
 */
export async function transactionTimeoutBound(
  admin: Pick<Admin, 'describeBrokerConfig'>,
  { transactionTimeoutMs }: Pick<EngineConfig, 'transactionTimeoutMs'>,
): Promise<number | undefined> {
  const broker = await ifAllowed(admin.describeBrokerConfig())
  if (broker === undefined) return undefined
  const maxMs = Number(broker.get('transaction.max.timeout.ms') ?? Number.POSITIVE_INFINITY)
  if (transactionTimeoutMs <= maxMs) return maxMs
  throw new MillraceError('CONFIG_CONFLICT', {
    what: `transaction.timeout.ms is ${String(transactionTimeoutMs)}, and the broker allows at most ${String(maxMs)} (transaction.max.timeout.ms).`,
    action: 'Lower transaction.timeout.ms, or raise transaction.max.timeout.ms on the brokers.',
  })
}
