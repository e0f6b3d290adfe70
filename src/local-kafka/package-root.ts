import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assert } from '../model/assert.ts'

/** Folder of the installed package, which holds `config/` and `docker-compose.yml`; the same from sources, build and package. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    assert(parent !== folder, 'the package has a package.json above its code', { folder })
    folder = parent
  }
  return folder
}
