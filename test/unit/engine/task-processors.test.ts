import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import { keyValueStore } from '../../../src/stores/store-spec.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { streams } from '../../../src/topology/streams.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import { TaskBench } from './task-bench.ts'

const text = { key: string, value: string }

/** A timer that goes off once, at the first record. */
function once(builder: StreamsBuilder): void {
  builder
    .stream('in', text)
    .process({
      ...text,
      init: ({ forward, schedule }) => {
        const timer = schedule({ every: 10, by: 'streamTime' }, timestamp => {
          forward({ key: 'timer', value: 'once', timestamp })
          timer.cancel()
        })
        return () => {}
      },
    })
    .to('out')
}

/** Each record sets a timer of its own, which goes off once at 30; `boom` fails behind that. */
function timerPerRecord(builder: StreamsBuilder): void {
  builder
    .stream('in', text)
    .process({
      ...text,
      init:
        ({ forward, schedule }) =>
        ({ key, value }) => {
          const timer = schedule({ every: 10, by: 'streamTime', startAt: 30 }, timestamp => {
            forward({ key, value: `timer of ${value}`, timestamp })
            timer.cancel()
          })
          if (value === 'boom') throw new Error('boom')
        },
    })
    .to('out')
}

/** A timer that goes off every 100 ms of stream time. */
function ticks(builder: StreamsBuilder): void {
  builder
    .stream('in', text)
    .process({
      ...text,
      init: ({ forward, schedule }) => {
        schedule({ every: 100, by: 'streamTime' }, timestamp => {
          forward({ key: 'timer', value: 'tick', timestamp })
        })
        return () => {}
      },
    })
    .to('out')
}

describe('the processors of a task', () => {
  it('get a timer back that ended itself in an aborted transaction', () => {
    const bench = new TaskBench(once)
    const processes = (): void => {
      bench.collector.sent.length = 0
      bench.feed('in', [{ key: 'a', value: '1', timestamp: 20 }])
      bench.task.process(1)
      expect(bench.sent('out')).to.deep.equal([['timer', 'once', 20]])
    }
    processes()
    bench.task.abortState()
    processes()
    bench.task.commitState()
  })

  it('do not have a timer twice whose record is processed again', () => {
    const bench = new TaskBench(timerPerRecord)
    for (let time = 0; time < 2; time += 1) {
      bench.task.abortState()
      bench.feed('in', [{ key: 'a', value: '1', timestamp: 20 }])
      bench.task.process(1)
    }
    bench.feed('in', [{ key: 'b', value: '2', timestamp: 29, offset: 1 }])
    bench.task.process(1)
    bench.feed('in', [{ key: 'c', value: '3', timestamp: 40, offset: 2 }])
    bench.task.process(1)
    expect(bench.sent('out').map(([, value]) => value)).to.deep.equal(['timer of 1', 'timer of 2', 'timer of 3'])
  })

  it('have no timer of a record that failed, and every one that it had cancelled', () => {
    const bench = new TaskBench(timerPerRecord, { processing: 'skip' })
    bench.feed('in', [
      { key: 'a', value: 'boom', timestamp: 20 },
      { key: 'b', value: '1', timestamp: 30 },
    ])
    bench.task.process(2)
    expect(bench.sent('out').map(([, value]) => value)).to.deep.equal(['timer of 1'])

    const cancelling = new TaskBench(
      builder => {
        builder
          .stream('in', text)
          .process({
            ...text,
            init: ({ forward, schedule }) => {
              const timer = schedule({ every: 10, by: 'streamTime', startAt: 10 }, timestamp => {
                forward({ key: 'timer', value: 'tick', timestamp })
              })
              return ({ value }) => {
                if (value !== 'cancels and fails') return
                timer.cancel()
                throw new Error('no')
              }
            },
          })
          .to('out')
      },
      { processing: 'skip' },
    )
    cancelling.feed('in', [
      { key: 'a', value: 'cancels and fails', timestamp: 5 },
      { key: 'a', value: 'x', timestamp: 10 },
    ])
    cancelling.task.process(2)
    expect(cancelling.sent('out')).to.deep.equal([['timer', 'tick', 10]])
  })

  it('go on with their timers where they were committed, after an abort as after a restart', () => {
    const bench = new TaskBench(ticks)
    bench.feed('in', [{ key: 'a', value: '1', timestamp: 30 }])
    bench.task.process(1)
    bench.task.commitState()
    bench.feed('in', [{ key: 'a', value: '2', timestamp: 170, offset: 1 }])
    bench.task.process(1)
    bench.task.abortState()
    bench.feed('in', [
      { key: 'a', value: '2', timestamp: 90, offset: 1 },
      { key: 'a', value: '3', timestamp: 110, offset: 2 },
    ])
    bench.task.process(2)
    expect(bench.sent('out').map(([, , timestamp]) => timestamp)).to.deep.equal([30, 170, 110])
  })

  it('are made anew after an abort: what they remember themselves nobody can take back', () => {
    const lives: string[] = []
    const bench = new TaskBench(builder => {
      builder
        .stream('in', text)
        .process({
          ...text,
          init: ({ forward }) => {
            let count = 0
            lives.push('init')
            return {
              process: ({ key }) => {
                count += 1
                forward({ key, value: String(count) })
              },
              close: () => {
                lives.push('close')
              },
            }
          },
        })
        .to('out')
    })
    for (let time = 0; time < 2; time += 1) {
      bench.feed('in', [{ key: 'a', value: 'x' }])
      bench.task.process(1)
      bench.task.abortState()
    }
    bench.task.close()
    expect(bench.sent('out').map(([, value]) => value)).to.deep.equal(['1', '1'])
    expect(lives).to.deep.equal(['init', 'close', 'init', 'close'])
  })

  it('find their restored stores in init, as in the JVM', () => {
    const driver = new TestDriver(
      streams(builder => {
        builder
          .stream('in', text)
          .process({
            ...text,
            stores: { seen: keyValueStore('seen', { key: string, value: long }) },
            init: ({ forward, stores: { seen } }) => {
              let total = 0
              for (const [, count] of seen.all()) total += count
              return ({ key }) => {
                seen.put(key, (seen.get(key) ?? 0) + 1)
                forward({ key, value: `${String(total)} before this life` })
              }
            },
          })
          .to('out')
      }),
    )
    const input = driver.input('in', text)
    const output = driver.output('out', text)
    input.pipe('a', 'x')
    input.pipe('b', 'x')
    driver.restart()
    input.pipe('a', 'x')
    expect(output.readAll().map(({ value }) => value)).to.deep.equal([
      '0 before this life',
      '0 before this life',
      '2 before this life',
    ])
    driver.close()
  })

  it('say which of them failed in init, and end what was made', () => {
    let closed = 0
    const bench = new TaskBench(builder => {
      const stream = builder.stream('in', text)
      stream.process({
        init: () => ({
          process: () => {},
          close: () => {
            closed += 1
          },
        }),
      })
      stream.process({
        name: 'broken',
        init: () => {
          throw new Error('no connection')
        },
      })
    })
    bench.feed('in', [{ key: 'a', value: 'x' }])
    const failure = ((): unknown => {
      try {
        return bench.task.process(1)
      } catch (thrown) {
        return thrown
      }
    })()
    expect(failure).to.be.instanceOf(MillraceError).with.property('code', 'PROCESSING_FAILED')
    expect(failure).to.have.property('reaction', 'stop')
    expect(failure).to.have.property('message').that.includes('broken failed in init: no connection')
    bench.task.close()
    expect(closed).to.equal(1)
  })

  it('are told when the task is closed', () => {
    let closed = 0
    const bench = new TaskBench(builder => {
      builder.stream('in', text).process({
        init: () => ({
          process: () => {},
          close: () => {
            closed += 1
          },
        }),
      })
    })
    bench.task.begin()
    bench.task.close()
    expect(closed).to.equal(1)
  })

  it('are all closed, whatever one of them does then', () => {
    let closed = 0
    const failing = {
      init: () => ({
        process: () => {},
        close: () => {
          closed += 1
          throw new Error('the connection is gone')
        },
      }),
    }
    const bench = new TaskBench(builder => {
      const stream = builder.stream('in', text)
      stream.process(failing)
      stream.process(failing)
    })
    bench.task.begin()
    bench.task.close()

    expect(closed).to.equal(2)
  })
})
