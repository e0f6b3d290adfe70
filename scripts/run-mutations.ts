/**
 * Puts each seeded bug into a copy of the compiled project and demands that its tests go red for the right reason:
 * `npm run test:mutations -- [--only name,…] [--list]`. Without a bug they have to be green.
 */
import { complaintAbout, MutantFolder, occurrencesOf } from '../test/mutations/mutant.ts'
import type { Mutation } from '../test/mutations/mutation.ts'
import { MUTATIONS } from '../test/mutations/mutations.ts'

const args = process.argv.slice(2)
const only = args.includes('--only') ? (args[args.indexOf('--only') + 1] ?? '').split(',') : undefined
const chosen = only === undefined ? MUTATIONS : MUTATIONS.filter(({ name }) => only.includes(name))
const OUTPUT_LINES = 40

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Whether a test is green without any bug; each is asked once. */
const green = new Map<string, boolean>()

async function judge(folder: MutantFolder, mutation: Mutation): Promise<boolean> {
  let isCaught = true
  for (const catcher of mutation.caughtBy) {
    const id = `${catcher.file}: ${catcher.title}`
    if (!green.has(id)) {
      const { failed, passed, output } = await folder.run(catcher)
      green.set(id, failed === 0 && passed > 0)
      if (failed > 0 || passed === 0) print(tail(output))
    }
    const run = await folder.with(mutation, () => folder.run(catcher))
    const complaint = green.get(id) === true ? complaintAbout(run, catcher) : `is red without the bug: ${id}`
    print(`${complaint === undefined ? 'caught' : 'MISSED'}  ${mutation.name.padEnd(36)}  ${complaint ?? id}`)
    if (complaint !== undefined) print(tail(run.output))
    isCaught &&= complaint === undefined
  }
  return isCaught
}

function tail(output: string): string {
  return output
    .trim()
    .split('\n')
    .slice(-OUTPUT_LINES)
    .map(line => `    ${line.slice(0, 400)}`)
    .join('\n')
}

async function main(): Promise<number> {
  if (args.includes('--list')) {
    for (const { name, bug } of MUTATIONS) print(`${name.padEnd(36)}  ${bug}`)
    return 0
  }
  if (chosen.length === 0) {
    print('No such mutation; --list shows them.')
    return 2
  }
  const folder = new MutantFolder(String(process.pid))
  try {
    let missed = 0
    for (const mutation of chosen) {
      const count = occurrencesOf(mutation)
      if (count !== 1)
        print(`MISSED  ${mutation.name.padEnd(36)}  its text stands ${String(count)} times in ${mutation.file}`)
      if (count !== 1 || !(await judge(folder, mutation))) missed += 1
    }
    print(`${String(chosen.length - missed)} of ${String(chosen.length)} seeded bugs caught`)
    return missed === 0 ? 0 : 1
  } finally {
    folder.remove()
  }
}

process.exitCode = await main()
