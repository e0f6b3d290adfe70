import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { applicationStateDir, takeProcessIdentity } from '../../../src/engine/process-identity.ts'

describe('process identity', () => {
  let stateDir: string

  beforeEach(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'millrace-state-'))
  })

  afterEach(async () => {
    await rm(stateDir, { recursive: true, force: true })
  })

  it('keeps the process id over a restart', async () => {
    const first = await takeProcessIdentity(stateDir, 'app')
    await first.release()
    const second = await takeProcessIdentity(stateDir, 'app')
    await second.release()
    expect(second.processId).to.equal(first.processId)
  })

  it('gives every application an identity of its own', async () => {
    const one = await takeProcessIdentity(stateDir, 'one')
    const two = await takeProcessIdentity(stateDir, 'two')
    expect(one.processId).not.to.equal(two.processId)
    await Promise.all([one.release(), two.release()])
  })

  it('keeps a live owner’s directory from a second process (F13)', async () => {
    const directory = applicationStateDir(stateDir, 'app')
    const first = await takeProcessIdentity(stateDir, 'app')
    await first.release()
    // Process 1 always lives and is not us.
    await writeFile(join(directory, 'lock'), '1 ')
    const refused = await takeProcessIdentity(stateDir, 'app').catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(MillraceError)
    expect((refused as MillraceError).code).to.equal('STORE_LOCKED')
  })

  it('takes over the lock of a process that was killed', async () => {
    const directory = applicationStateDir(stateDir, 'app')
    const first = await takeProcessIdentity(stateDir, 'app')
    await first.release()
    await writeFile(join(directory, 'lock'), '999999999 1')
    const second = await takeProcessIdentity(stateDir, 'app')
    expect(second.processId).to.equal(first.processId)
    await second.release()
  })

  it('takes over a lock whose process number now belongs to another process', async () => {
    const first = await takeProcessIdentity(stateDir, 'app')
    await first.release()
    await writeFile(join(applicationStateDir(stateDir, 'app'), 'lock'), '1 0')
    const second = await takeProcessIdentity(stateDir, 'app')
    expect(second.processId).to.equal(first.processId)
    await second.release()
  })

  it('leaves nothing but the process id behind and keeps it from other users', async () => {
    const identity = await takeProcessIdentity(stateDir, 'app')
    await identity.release()
    const directory = applicationStateDir(stateDir, 'app')
    expect(await readdir(directory)).to.deep.equal(['process-id'])
    expect((await stat(directory)).mode & 0o077).to.equal(0)
    expect((await stat(join(directory, 'process-id'))).mode & 0o077).to.equal(0)
  })

  it('lets one of many that start at the same time over a dead owner have it', async () => {
    const directory = applicationStateDir(stateDir, 'app')
    const first = await takeProcessIdentity(stateDir, 'app')
    await first.release()
    await writeFile(join(directory, 'lock'), '999999999 1')
    const starters = await Promise.allSettled(Array.from({ length: 8 }, () => takeProcessIdentity(stateDir, 'app')))
    const winners = starters.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))

    expect(winners).to.have.length(1)
    await winners[0]?.release()
  })

  it('keeps a second instance of the same process from a directory that is in use', async () => {
    const first = await takeProcessIdentity(stateDir, 'app')

    expect((await rejectionOf(takeProcessIdentity(stateDir, 'app'))).code).to.equal('STORE_LOCKED')
    await first.release()
    await (await takeProcessIdentity(stateDir, 'app')).release()
  })

  it('takes over an empty lock: its owner died before it could write', async () => {
    const first = await takeProcessIdentity(stateDir, 'app')
    await first.release()
    await writeFile(join(applicationStateDir(stateDir, 'app'), 'lock'), '')

    await (await takeProcessIdentity(stateDir, 'app')).release()
  })

  it('does not replace a process id that it cannot read: the old one may have a transaction open', async () => {
    const directory = applicationStateDir(stateDir, 'app')
    await mkdir(join(directory, 'process-id'), { recursive: true })

    expect((await rejectionOf(takeProcessIdentity(stateDir, 'app'))).code).to.equal('CONFIG_INVALID')
    expect(await readdir(directory)).to.deep.equal(['process-id'])
  })

  it('names a state directory that cannot be made', async () => {
    const file = join(stateDir, 'file')
    await writeFile(file, '')
    const refused = await rejectionOf(takeProcessIdentity(file, 'app'))

    expect(refused.code).to.equal('CONFIG_INVALID')
    expect(refused.message).to.include(file)
  })

  it('releases once: the lock may be another’s by then', async () => {
    const first = await takeProcessIdentity(stateDir, 'app')
    await first.release()
    const second = await takeProcessIdentity(stateDir, 'app')
    await first.release()
    expect(await readdir(applicationStateDir(stateDir, 'app'))).to.include('lock')
    await second.release()
  })
})
