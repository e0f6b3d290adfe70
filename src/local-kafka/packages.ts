import { commandWorks, runCommand } from './command.ts'
import { unavailable } from './unavailable.ts'

/** What to provide where no Kafka can be had. */
export const NO_WAY =
  'There is no Kafka here: KAFKA_BOOTSTRAP_SERVERS is not set, no Docker daemon answers, and Java 17 with Maven is not installed.'

/**
 * Installs packages. On Debian as root, such as in CI, they can be had; elsewhere the user is asked for them.
 *
 * @throws LOCAL_KAFKA_UNAVAILABLE
 */
export async function installPackages(packages: readonly string[], onProgress: (line: string) => void): Promise<void> {
  if (process.getuid?.() !== 0 || !(await commandWorks('apt-get', ['--version']))) throw unavailable(NO_WAY)
  onProgress(`Installing ${packages.join(' and ')} (apt-get)`)
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  await runCommand('apt-get', ['update', '-qq'], { timeoutMs: 300_000, env })
  const { exitCode, output } = await runCommand(
    'apt-get',
    ['install', '-y', '-qq', '--no-install-recommends', ...packages],
    { timeoutMs: 600_000, env },
  )
  if (exitCode !== 0) throw unavailable(`${NO_WAY} Installing them failed:\n${output.slice(-1_000)}`)
}
