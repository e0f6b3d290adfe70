import { spawn, type ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'

/**
 * A shell that reads this process's orders from a pipe. The pipe ends with this process, however it ends, even by
 * SIGKILL; then the shell kills what is still watched and removes the folder. Ids are forgotten as soon as a process
 * has ended, so that an id that the system gives to somebody else is never killed.
 */
const SCRIPT = `
pids=
while read -r order pid; do
  case $order in
    watch) pids="$pids $pid" ;;
    forget) left=; for p in $pids; do [ "$p" = "$pid" ] || left="$left $p"; done; pids=$left ;;
    release) exit 0 ;;
  esac
done
[ -z "$pids" ] || kill -9 $pids 2>/dev/null
sleep 1
[ -z "$1" ] || rm -rf "$1"
shift
[ $# -eq 0 ] || exec "$@"
`

/** Ends processes and removes their folder when this process dies before it could do so itself. */
export class Watchdog {
  readonly #shell: ChildProcess

  /**
   * @param folder - removed when this process dies; empty for none
   * @param command - run after that; empty for none
   */
  constructor(folder: string, command: readonly string[] = []) {
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT, 'millrace-local-kafka-watchdog', folder, ...command], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#shell.on('error', () => undefined)
    this.#shell.stdin?.on('error', () => undefined)
    this.#shell.unref()
    if (this.#shell.stdin instanceof Socket) this.#shell.stdin.unref()
  }

  /** Kills that process when this one dies. */
  watch(pid: number): void {
    this.#shell.stdin?.write(`watch ${String(pid)}\n`)
  }

  /** That process has ended. */
  forget(pid: number): void {
    this.#shell.stdin?.write(`forget ${String(pid)}\n`)
  }

  /** Everything was cleaned up; the watchdog ends. */
  release(): void {
    this.#shell.stdin?.end('release\n')
  }
}
