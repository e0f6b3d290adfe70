/**
 * Runs a command and ends it, with all it started, when it takes too long: an endless loop in a test beats the test
 * runner's own timeout. `node build/scripts/run-with-deadline.js <seconds> <command> [arguments…]`
 */
import { spawn } from 'node:child_process'

const [seconds, command, ...args] = process.argv.slice(2)
const timeoutMs = Number(seconds) * 1_000
if (command === undefined || Number.isNaN(timeoutMs)) {
  console.error('Usage: run-with-deadline <seconds> <command> [arguments…]')
  process.exit(2)
}

// A group of its own, so that one signal reaches everything.
const child = spawn(command, args, { stdio: 'inherit', detached: true })

function signalGroup(signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // The group has ended meanwhile.
  }
}

/** Time for the test runner to abort the test at hand and to print what failed so far. */
const REPORT_MS = 20_000
let late = false

const deadline = setTimeout(() => {
  console.error(`${command} did not end within ${String(seconds)} s; ending it`)
  late = true
  signalGroup('SIGINT')
  setTimeout(() => {
    signalGroup('SIGKILL')
  }, REPORT_MS).unref()
}, timeoutMs)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    signalGroup(signal)
  })
}

child.on('error', error => {
  clearTimeout(deadline)
  console.error(error.message)
  process.exitCode = 127
})
child.on('exit', (code, signal) => {
  clearTimeout(deadline)
  process.exitCode = late ? 124 : (code ?? (signal === 'SIGINT' ? 130 : 124))
})
