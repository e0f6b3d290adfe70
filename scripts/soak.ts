/**
 * A long run on a real broker: `npm run soak -- --hours 12 --report soak.json`. Fractions of an hour are fine.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const USAGE = 'Usage: npm run soak -- [--hours H] [--report FILE]   (0.05 hours)'
const TEST = fileURLToPath(new URL('../test/chaos/soak/soak.chaos.js', import.meta.url))

const { values } = parseArgs({ options: { hours: { type: 'string' }, report: { type: 'string' } } })
const hours = Number(values.hours ?? '0.05')
if (!(hours > 0)) {
  console.error(USAGE)
  process.exit(2)
}
// The model keeps everything in memory.
const options = ['enable-source-maps', 'max-old-space-size=8192'].flatMap(option => ['--node-option', option])
const child = spawn(process.execPath, ['node_modules/mocha/bin/mocha.js', '--no-config', ...options, TEST], {
  stdio: 'inherit',
  env: {
    ...process.env,
    MILLRACE_SOAK_HOURS: String(hours),
    ...(values.report === undefined ? {} : { MILLRACE_SOAK_REPORT: values.report }),
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
child.on('exit', code => {
  process.exitCode = code ?? 1
})
