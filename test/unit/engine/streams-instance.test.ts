import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { deferred, type Deferred } from '../../../src/engine/deferred.ts'
import { applicationStateDir } from '../../../src/engine/process-identity.ts'
import { StreamsInstance } from '../../../src/engine/streams-instance.ts'
import type { TaskInfo } from '../../../src/engine/task-info.ts'
import type { ThreadHandle, ThreadReports } from '../../../src/engine/thread-handle.ts'
import type { ThreadLaunch } from '../../../src/engine/thread-launcher.ts'
import type { StopOptions } from '../../../src/engine/thread-shutdown.ts'
import type { ThreadState } from '../../../src/engine/thread-state.ts'
import type { PreparedTopics } from '../../../src/engine/topic-preparation.ts'
import { eventually } from '../../support/condition.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { rejectionOf } from '../../support/rejection.ts'

/** A thread that does what the test says. */
class FakeThread implements ThreadHandle {
  readonly name: string
  readonly launch: ThreadLaunch
  readonly #reports: ThreadReports
  state: ThreadState = 'created'
  stopped: StopOptions | undefined
  paused = false
  asked = false

  constructor(launch: ThreadLaunch, reports: ThreadReports) {
    this.name = launch.name
    this.launch = launch
    this.#reports = reports
    // As a thread on the caller's own: it reports before its supervisor has the handle.
    this.becomes('starting')
  }

  becomes(state: ThreadState): void {
    const previous = this.state
    this.state = state
    this.#reports.onState(state, previous)
  }

  ends(error?: MillraceError): void {
    this.state = error === undefined ? 'stopped' : 'failed'
    this.#reports.onEnd(error)
  }

  stop(options: StopOptions): void {
    this.stopped = options
  }

  pause(paused: boolean): void {
    this.paused = paused
  }

  askForShutdown(): void {
    this.asked = true
  }

  snapshot(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  tasks(): readonly TaskInfo[] {
    return []
  }

  read(): Promise<never> {
    return Promise.reject(new Error('nobody reads here'))
  }

  turnAgeMs(): number {
    return 0
  }
}

const NO_TOPICS: PreparedTopics = { partitions: new Map(), maxMessageBytes: new Map() }

describe('streams instance', () => {
  let directory: string
  let threads: FakeThread[]
  let preparation: Deferred<PreparedTopics>
  let aborted: boolean
  let clock: ManualClock

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'millrace-instance-'))
    threads = []
    preparation = deferred()
    preparation.promise.catch(() => undefined)
    aborted = false
    clock = new ManualClock()
  })

  afterEach(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  async function anInstance(properties: Readonly<Record<string, string | number>> = {}): Promise<StreamsInstance> {
    const streamsModule = new URL('../../../src/topology/streams.js', import.meta.url).href
    const module = join(directory, 'copy.mjs')
    await writeFile(
      module,
      `import { streams } from '${streamsModule}'\nexport default streams(builder => { builder.stream('in').to('out') })\n`,
    )
    return new StreamsInstance({
      source: {
        kind: 'module',
        url: pathToFileURL(module).href,
        config: {
          streams: { 'application.id': 'app', 'state.dir': directory, 'num.stream.threads': 2, ...properties },
          kafka: { 'bootstrap.servers': '127.0.0.1:1' },
        },
      },
      clock,
      random: () => 0.5,
      logger: () => SILENT_LOGGER,
      version: '0.0.0',
      launching: {
        prepareCluster: (_options, signal) => {
          const abort = (): void => {
            aborted = true
            preparation.reject(new MillraceError('NOT_RUNNING'))
          }
          // The lock is held a moment before this is called, and the instance may be closed in between.
          if (signal?.aborted === true) abort()
          else signal?.addEventListener('abort', abort)
          return preparation.promise
        },
        launchThread: (launch, reports) => {
          const thread = new FakeThread(launch, reports)
          threads.push(thread)
          return thread
        },
      },
    })
  }

  async function aRunningInstance(
    properties: Readonly<Record<string, string | number>> = {},
  ): Promise<StreamsInstance> {
    const instance = await anInstance(properties)
    preparation.resolve(NO_TOPICS)
    const started = instance.start()
    await eventually('two threads', () => threads.length === 2)
    for (const each of threads) each.becomes('running')
    await started
    return instance
  }

  function threadAt(at: number): FakeThread {
    const found = threads[at]
    if (found === undefined) throw new Error(`there is no thread ${String(at)}`)
    return found
  }

  function instanceIds(): readonly string[] {
    return threads.map(({ launch }) => launch.identity.groupInstanceId.replace(/^.*-/, ''))
  }

  async function isLocked(): Promise<boolean> {
    return (await readdir(applicationStateDir(directory, 'app'))).includes('lock')
  }

  it('runs once all of its threads run, and not before', async () => {
    const instance = await anInstance()
    preparation.resolve(NO_TOPICS)
    const started = instance.start()
    await eventually('two threads', () => threads.length === 2)
    const states = [instance.state]
    threadAt(0).becomes('running')
    states.push(instance.state)
    threadAt(1).becomes('running')
    states.push(instance.state)
    await started

    expect(states).to.deep.equal(['rebalancing', 'rebalancing', 'running'])
  })

  it('makes instance and transactional id of one name, a number for each thread', async () => {
    await aRunningInstance({})
    const ids = threads.map(({ launch: { identity } }) => [identity.groupInstanceId, identity.transactionalId])
    const processId = threadAt(0).launch.identity.processId

    expect(ids).to.deep.equal([
      [`${processId}-1`, `app-${processId}-1`],
      [`${processId}-2`, `app-${processId}-2`],
    ])
  })

  it('gives a thread that replaces another the ids of that one, never those of a living one', async () => {
    const instance = await aRunningInstance()
    instance.onError(() => 'replaceThread')
    threadAt(0).ends(new MillraceError('STORE_FULL'))
    threadAt(1).ends(new MillraceError('STORE_FULL'))

    expect(instanceIds()).to.deep.equal(['1', '2', '1', '2'])
    expect(new Set(threads.map(({ name }) => name)).size).to.equal(4)
  })

  it('runs again once the replacing thread runs', async () => {
    const instance = await aRunningInstance()
    instance.onError(() => 'replaceThread')
    threadAt(0).ends(new MillraceError('STORE_FULL'))
    expect(instance.state).to.equal('rebalancing')
    threadAt(2).becomes('running')

    expect(instance.state).to.equal('running')
  })

  it('replaces no thread whose instance id another process took', async () => {
    const instance = await aRunningInstance()
    instance.onError(() => 'replaceThread')
    threadAt(0).ends(new MillraceError('INSTANCE_ID_IN_USE'))
    threadAt(1).ends()

    expect((await rejectionOf(instance.closed)).code).to.equal('INSTANCE_ID_IN_USE')
    expect(threads).to.have.length(2)
  })

  it('stops the other threads when one fails, and fails with its error', async () => {
    const instance = await aRunningInstance()
    threadAt(0).ends(new MillraceError('STORE_FULL'))
    expect(instance.state).to.equal('failing')
    expect(threadAt(1).stopped?.leaveGroup).to.equal(true)
    threadAt(1).ends()

    expect((await rejectionOf(instance.closed)).code).to.equal('STORE_FULL')
    expect(instance.state).to.equal('failed')
    expect(await isLocked()).to.equal(false)
  })

  describe('told to stop the whole application', () => {
    it('has the threads that are left tell the group, and fails with the error that began it', async () => {
      const instance = await aRunningInstance()
      instance.onError(() => 'shutdownApplication')
      threadAt(0).ends(new MillraceError('STORE_FULL'))
      expect([instance.state, threadAt(1).asked, threadAt(1).stopped]).to.deep.equal(['failing', true, undefined])
      threadAt(1).ends(new MillraceError('SHUTDOWN_REQUESTED'))

      expect((await rejectionOf(instance.closed)).code).to.equal('STORE_FULL')
      expect(threads).to.have.length(2)
    })

    it('starts a thread for that when none is left', async () => {
      const instance = await aRunningInstance()
      instance.onError(() => 'shutdownApplication')
      threadAt(1).ends()
      threadAt(0).ends(new MillraceError('STORE_FULL'))
      expect([threads.length, threadAt(2).asked]).to.deep.equal([3, true])
      expect(instanceIds()).to.deep.equal(['1', '2', '1'])
      threadAt(2).ends(new MillraceError('SHUTDOWN_REQUESTED'))

      expect((await rejectionOf(instance.closed)).code).to.equal('STORE_FULL')
    })

    it('ends after shutdown.timeout.ms when the group does not answer, and leaves no group by that', async () => {
      const instance = await aRunningInstance({ 'shutdown.timeout.ms': 5_000 })
      instance.onError(() => 'shutdownApplication')
      threadAt(0).ends(new MillraceError('STORE_FULL'))
      await clock.advance(5_000)
      expect(threadAt(1).stopped?.leaveGroup).to.equal(false)
      threadAt(1).ends()

      expect((await rejectionOf(instance.closed)).code).to.equal('STORE_FULL')
      expect(clock.timers).to.equal(0)
    })

    it('by another instance stops without asking its own handler, and stays in the group until all have heard', async () => {
      const instance = await aRunningInstance()
      instance.onError(() => 'replaceThread')
      threadAt(0).ends(new MillraceError('SHUTDOWN_REQUESTED'))
      expect(threadAt(1).stopped?.leaveGroup).to.equal(false)
      threadAt(1).ends()

      expect((await rejectionOf(instance.closed)).code).to.equal('SHUTDOWN_REQUESTED')
    })
  })

  it('stops when the error handler itself fails', async () => {
    const instance = await aRunningInstance()
    instance.onError(() => {
      throw new Error('no idea')
    })
    threadAt(0).ends(new MillraceError('STORE_FULL'))
    threadAt(1).ends()

    expect((await rejectionOf(instance.closed)).code).to.equal('STORE_FULL')
  })

  it('lets go of the state directory when it cannot start', async () => {
    const instance = await anInstance()
    const started = rejectionOf(instance.start())
    preparation.reject(new MillraceError('TOPIC_MISSING'))

    expect((await started).code).to.equal('TOPIC_MISSING')
    expect((await rejectionOf(instance.closed)).code).to.equal('TOPIC_MISSING')
    expect(instance.state).to.equal('failed')
    expect(await isLocked()).to.equal(false)
  })

  it('starts no thread when it is closed while the cluster is being prepared', async () => {
    const instance = await anInstance()
    const started = rejectionOf(instance.start())
    await eventually('the lock is held', async () => (await readdir(directory)).includes('app') && (await isLocked()))
    await instance.close()

    expect((await started).code).to.equal('NOT_RUNNING')
    expect([instance.state, aborted, threads.length]).to.deep.equal(['closed', true, 0])
    expect(await isLocked()).to.equal(false)
  })

  it('starts no thread when the preparation succeeds after the close all the same', async () => {
    const instance = await anInstance()
    const started = rejectionOf(instance.start())
    preparation.resolve(NO_TOPICS)
    await instance.close()

    expect((await started).code).to.equal('NOT_RUNNING')
    expect([instance.state, threads.length]).to.deep.equal(['closed', 0])
    expect(await isLocked()).to.equal(false)
  })

  it('closes once, however often it is asked', async () => {
    const instance = await aRunningInstance()
    const closes = [instance.close({ timeoutMs: 5 }), instance.close({ timeoutMs: 7 })]
    expect(threadAt(0).stopped?.timeoutMs).to.equal(5)
    for (const each of threads) each.ends()
    await Promise.all(closes)
    await instance.close()
    await instance.closed

    expect(instance.state).to.equal('closed')
    expect(await isLocked()).to.equal(false)
  })

  it('closes before it was started', async () => {
    const instance = await anInstance()
    await instance.close()

    expect(instance.state).to.equal('closed')
  })

  it('keeps its place in the group at a stop that says so', async () => {
    const instance = await aRunningInstance()
    void instance.close({ leaveGroup: false })
    expect(threadAt(0).stopped?.leaveGroup).to.equal(false)
    for (const each of threads) each.ends()
    await instance.closed
  })

  it('fails when a thread fails while it stops', async () => {
    const instance = await aRunningInstance()
    instance.onError(() => 'replaceThread')
    const closing = instance.close()
    threadAt(0).ends(new MillraceError('INTERNAL'))
    threadAt(1).ends()
    await closing

    expect((await rejectionOf(instance.closed)).code).to.equal('INTERNAL')
    expect(threads).to.have.length(2)
  })

  it('is running again after a pause', async () => {
    const instance = await aRunningInstance()
    instance.pause(true)
    expect([instance.state, threadAt(0).paused]).to.deep.equal(['paused', true])
    instance.pause(false)

    expect([instance.state, threadAt(0).paused]).to.deep.equal(['running', false])
  })

  it('pauses the thread that replaces another while it is paused', async () => {
    const instance = await aRunningInstance()
    instance.onError(() => 'replaceThread')
    instance.pause(true)
    threadAt(0).ends(new MillraceError('STORE_FULL'))

    expect(threadAt(2).paused).to.equal(true)
  })

  it('refuses to pause what does not run', async () => {
    const instance = await anInstance()

    expect(() => {
      instance.pause(true)
    })
      .to.throw(MillraceError)
      .with.property('code', 'NOT_RUNNING')
  })
})
