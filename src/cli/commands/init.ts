import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { MillraceError } from '../../model/errors.ts'
import { defineCommand } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { scaffoldFiles } from '../scaffold.ts'
import { UsageError } from '../usage-error.ts'

/** Scaffold of a new application: YAML with a test, compose file, notes. */
export const initCommand = defineCommand({
  usage: 'init [folder]',
  summary: 'makes a new application: YAML with a test, docker-compose.yml, README',
  examples: [
    ['$0 init word-count', 'makes the folder word-count'],
    ['$0 init . --name clicks', 'puts the application clicks into this folder'],
  ],
  options: yargs =>
    yargs
      .positional('folder', { type: 'string', default: '.', describe: 'where to put it' })
      .option('name', { type: 'string', describe: "the application id; the folder's name by default" }),
  run: async ({ folder, name }, io) => {
    const applicationId = name ?? nameOf(folder)
    if (!/^[A-Za-z][A-Za-z0-9._-]*$/.test(applicationId)) {
      throw new UsageError(`"${applicationId}" cannot be an application id: letters, digits, dots, dashes. Use --name.`)
    }
    await mkdir(folder, { recursive: true })
    for (const [file, text] of Object.entries(scaffoldFiles(applicationId))) {
      await writeNew(join(folder, file), text)
      io.out(`made ${relative('.', join(folder, file))}`)
    }
    io.out(`\nNext:\n  cd ${folder}\n  millrace test ${applicationId}.yaml\n  millrace run ${applicationId}.yaml`)
    return EXIT_CODES.ok
  },
})

function nameOf(folder: string): string {
  return basename(resolve(folder))
}

/** Never over a file that is there. */
async function writeNew(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' }).catch((cause: unknown) => {
    throw new MillraceError('USAGE', {
      cause,
      what: `${path} cannot be made.`,
      action: 'Choose an empty folder; nothing is written over.',
    })
  })
}
