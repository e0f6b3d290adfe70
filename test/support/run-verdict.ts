import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadPlanned } from '../../src/cli/loaded-application.ts'
import { systemClock } from '../../src/engine/system-clock.ts'
import type { Admin } from '../../src/kafka/admin/admin.ts'
import type { Cluster } from '../../src/kafka/cluster/cluster.ts'
import { observeRun } from '../../src/verification/observe-run.ts'
import type { RunObservation } from '../../src/verification/run-observation.ts'

/** How long a run may take to come to rest. */
const SETTLE_MS = 60_000

/** Observes the run of an application that has ended, as `millrace verify` does, for the checker. */
export async function observeEnded(
  yaml: string,
  { cluster, admin }: { readonly cluster: Cluster; readonly admin: Admin },
): Promise<RunObservation> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-verdict-'))
  try {
    const file = join(folder, 'app.yaml')
    await writeFile(file, yaml)
    const { plan, config } = await loadPlanned({ files: [file], overrides: [] })
    return await observeRun({
      cluster,
      admin,
      clock: systemClock,
      plan,
      policies: config.errors,
      guarantee: config.guarantee,
      settleTimeoutMs: SETTLE_MS,
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
