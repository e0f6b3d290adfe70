import { runYamlTests } from '../testing/yaml-tests.ts'
import type { ApplicationPlace } from './application-options.ts'
import type { CommandIo } from './command-io.ts'
import { EXIT_CODES } from './exit-codes.ts'

/** `millrace test`. @returns 0 when every test passed, else 1 */
export async function testApplication({ files, overrides }: ApplicationPlace, io: CommandIo): Promise<number> {
  const results = await runYamlTests(files, { overrides })
  for (const { name, position, passed, differences } of results) {
    io.out(`${passed ? 'ok    ' : 'FAIL  '}${name}${passed ? '' : `  (${position})`}`)
    for (const difference of differences) io.out(`      ${difference.replaceAll('\n', '\n      ')}`)
  }
  const failed = results.filter(({ passed }) => !passed).length
  if (results.length === 0) io.err(`${files.join(', ')} has no tests.`)
  io.out(`${String(results.length - failed)} passed, ${String(failed)} failed`)
  return failed === 0 ? EXIT_CODES.ok : EXIT_CODES.failed
}
