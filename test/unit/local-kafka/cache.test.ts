import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder, withLock } from '../../../src/local-kafka/cache.ts'

describe('cache', () => {
  let folder = ''

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-cache-test-'))
  })

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  it('lives under XDG_CACHE_HOME where that is set', () => {
    expect(cacheFolder({ XDG_CACHE_HOME: '/somewhere' })).to.equal('/somewhere/millrace')
    expect(cacheFolder({ XDG_CACHE_HOME: '' })).to.match(/\/\.cache\/millrace$/)
  })

  it('lets one at a time do the same work', async () => {
    let inside = 0
    let most = 0
    const work = async (): Promise<void> => {
      inside += 1
      most = Math.max(most, inside)
      await new Promise(resolve => setTimeout(resolve, 20))
      inside -= 1
    }
    await Promise.all([1, 2, 3].map(() => withLock(join(folder, 'lock'), 4_000, work)))
    expect(most).to.equal(1)
  })

  it('takes over the lock of a process that is gone', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    await writeFile(join(folder, 'lock'), String(pid))
    expect(await withLock(join(folder, 'lock'), 4_000, () => Promise.resolve('done'))).to.equal('done')
  })

  it('gives up on a lock that a living process keeps', async () => {
    await writeFile(join(folder, 'lock'), String(process.pid))
    const outcome = await withLock(join(folder, 'lock'), 150, () => Promise.resolve('done')).catch(
      (error: unknown) => error,
    )
    expect(outcome).to.have.property('code', 'LOCAL_KAFKA_UNAVAILABLE')
  })

  it('frees the lock when the work fails', async () => {
    const failed = await withLock(join(folder, 'lock'), 1_000, () => Promise.reject(new Error('no'))).catch(
      () => 'failed',
    )
    expect(failed).to.equal('failed')
    expect(await withLock(join(folder, 'lock'), 1_000, () => Promise.resolve('done'))).to.equal('done')
  })
})
