import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadApplication, type LoadedYaml } from '../../../src/config/load-application.ts'
import { problemsOf } from '../../../src/config/problems.ts'
import { positionOf } from '../../../src/config/source-file.ts'
import { MillraceError } from '../../../src/model/errors.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'

/** What every file of these tests begins with. */
export const HEAD = 'streams: { application.id: app }\nkafka: { bootstrap.servers: "127.0.0.1:9092" }\n'

/** Loads YAML texts as files of a folder that is gone afterwards; further files may stand beside them. */
export async function loadYaml(
  texts: string | readonly string[],
  options: {
    readonly environment?: Readonly<Record<string, string>>
    readonly overrides?: readonly string[]
    readonly beside?: Readonly<Record<string, string>>
  } = {},
): Promise<LoadedYaml> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-config-'))
  try {
    for (const [name, text] of Object.entries(options.beside ?? {})) writeFileSync(join(folder, name), text)
    const files = [texts].flat().map((text, index) => {
      const file = join(folder, `file${String(index + 1)}.yaml`)
      writeFileSync(file, text)
      return file
    })
    const { environment = {}, overrides = [] } = options
    return await loadApplication(files, { environment, overrides })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The problems of texts that must not load, as `line:column message (hint)`. */
export async function problemsOfYaml(...args: Parameters<typeof loadYaml>): Promise<readonly string[]> {
  try {
    await loadYaml(...args)
  } catch (error) {
    const problems = problemsOf(error)
    if (problems === undefined) throw error
    return problems.map(({ place, message, hint }) => {
      const at = place === undefined ? undefined : positionOf(place.file, place.start)
      const where = at === undefined ? '' : `${String(at.line)}:${String(at.column)} `
      return `${where}${message}${hint === undefined ? '' : ` (${hint})`}`
    })
  }
  throw new Error('the configuration loaded')
}

/** What a person reads of texts that must not load. */
export async function messageOfYaml(...args: Parameters<typeof loadYaml>): Promise<string> {
  try {
    await loadYaml(...args)
  } catch (error) {
    if (error instanceof MillraceError) return error.message.replaceAll(/\S*(file\d\.yaml)/g, '$1')
    throw error
  }
  throw new Error('the configuration loaded')
}

/** The steps of an application, run by the test driver. */
export async function driverOf(
  steps: string,
  {
    commit = 'everyRecord',
    ...options
  }: Parameters<typeof loadYaml>[1] & { readonly commit?: 'everyRecord' | 'explicit' } = {},
): Promise<TestDriver> {
  const { topology, config } = await loadYaml(`${HEAD}${steps}`, options)
  return new TestDriver(topology, {
    streams: config.streams,
    commit,
    ...(config.errors === undefined ? {} : { errors: config.errors }),
  })
}
