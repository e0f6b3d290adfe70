import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MillraceError } from '../../../src/model/errors.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import { keyValueStore } from '../../../src/stores/store-spec.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import { runYamlTests } from '../../../src/testing/yaml-tests.ts'
import { streams } from '../../../src/topology/streams.ts'

const text = { key: string, value: string }

const wordCount = streams(builder => {
  builder
    .stream('lines', { value: string })
    .flatMapValues(line => line.toLowerCase().match(/\p{L}+/gu) ?? [])
    .groupBy(word => word, text)
    .count({ store: 'word-counts' })
    .toStream()
    .to('words')
})

describe('test driver', () => {
  it('processes what follows from a record, through repartition topics, in the order of Kafka', () => {
    using driver = new TestDriver(wordCount)
    driver.input('lines', text).pipe(null, 'A rose is a rose')

    expect(driver.output('words', { key: string, value: long }).readKeyValues()).to.deep.equal([
      ['a', 1],
      ['rose', 1],
      ['is', 1],
      ['a', 2],
      ['rose', 2],
    ])
    expect(driver.producedTopics).to.deep.equal(['app-word-counts-repartition', 'app-word-counts-changelog', 'words'])
  })

  it('counts a line once when the process dies before the commit', () => {
    using driver = new TestDriver(wordCount, { commit: 'explicit' })
    const lines = driver.input('lines', text)
    lines.pipe(null, 'rose')
    driver.commit()
    lines.pipe(null, 'rose')
    driver.restart()
    driver.commit()

    expect(driver.timestampedKeyValueStore('word-counts', { key: string, value: long }).get('rose')?.value).to.equal(2)
  })

  it('processes what a commit itself sends to a repartition topic out of a cache', () => {
    const define = streams(builder => {
      builder
        .table('in', text)
        .groupBy(value => [value, value], text)
        .count({ store: 'counts' })
        .toStream()
        .to('out')
    })
    using driver = new TestDriver(define, { commit: 'explicit', streams: { 'statestore.cache.max.bytes': 1_000 } })
    const out = driver.output('out', { key: string, value: long })
    driver.input('in', text).pipe('k', 'x')
    driver.commit()
    expect(out.readKeyValues()).to.deep.equal([])
    driver.commit()
    expect(out.readKeyValues()).to.deep.equal([['x', 1]])
  })

  it('lets outputs of an aborted transaction vanish and gives them again', () => {
    using driver = new TestDriver(wordCount, { commit: 'explicit' })
    const lines = driver.input('lines', text)
    const words = driver.output('words', { key: string, value: long })
    lines.pipe(null, 'a')
    driver.commit()
    lines.pipe(null, 'b a')
    expect(words.readKeyValues()).to.deep.equal([
      ['a', 1],
      ['b', 1],
      ['a', 2],
    ])
    driver.abort()

    expect(words.readKeyValues()).to.deep.equal([
      ['b', 1],
      ['a', 2],
    ])
    expect(driver.output('app-word-counts-changelog', { key: string, value: long }).readAll()).to.have.length(3)
  })

  it('changes no result when it restarts or aborts at any point', () => {
    const define = streams(builder => {
      builder
        .stream('in', text)
        .process({
          stores: { sums: keyValueStore('sums', { key: string, value: long }) },
          value: string,
          init: ({ stores: { sums }, forward, schedule, streamTime }) => {
            schedule({ every: 10, by: 'streamTime' }, now => {
              for (const [key, sum] of sums.all()) forward({ key, value: `${String(sum)}@${String(now)}` })
            })
            return ({ key, value }) => {
              const sum = (sums.get(key) ?? 0) + Number(value)
              sums.put(key, sum)
              forward({ key, value: `${String(sum)} at ${String(streamTime())}` })
            }
          },
        })
        .to('out')
    })
    const run = (disturb: (driver: TestDriver, at: number) => void): unknown => {
      using driver = new TestDriver(define, { commit: 'explicit' })
      const input = driver.input('in', text)
      for (let at = 0; at < 60; at++) {
        input.pipe(at % 3 === 0 ? 'a' : 'b', String(at), 7 * at - (at % 4))
        if (at % 5 === 0) driver.commit()
        disturb(driver, at)
      }
      driver.commit()
      return driver
        .output('out', text)
        .readAll()
        .map(({ key, value, timestamp }) => [key, value, timestamp])
    }
    const undisturbed = run(() => {})

    expect(
      run((driver, at) => {
        if (at % 7 === 0) driver.abort()
      }),
    ).to.deep.equal(undisturbed)
    expect(
      run((driver, at) => {
        if (at % 11 === 0) driver.restart()
      }),
    ).to.deep.equal(undisturbed)
  })

  it('throws what stops the run and tells its code', () => {
    using driver = new TestDriver(
      streams(builder => {
        builder.stream('in', { key: string, value: long }).to('out')
      }),
    )
    const input = driver.input('in', { key: string, value: long })
    expect(() => {
      input.pipeRaw(Buffer.from('a'), Buffer.from('poison'))
    }).to.throw(MillraceError, /8 bytes/)
    expect(driver.failure).to.equal('DESERIALIZATION_FAILED')
  })

  it('stamps records by the clock of their topic and passes headers', () => {
    using driver = new TestDriver(
      streams(builder => {
        builder.stream('in', text).to('out')
      }),
    )
    const input = driver.input('in', text)
    input.pipe('a', '1')
    input.advanceTime('5s')
    input.pipeRecord({ key: 'a', value: '2', headers: [['h', 'x']] })

    const records = driver.output('out', text).readAll()
    expect(records.map(({ timestamp }) => timestamp)).to.deep.equal([0, 5_000])
    expect(records[1]?.headers.getString('h')).to.equal('x')
    expect(driver.output('out', text).isEmpty).to.equal(true)
  })

  it('refuses a topic that nobody reads', () => {
    using driver = new TestDriver(wordCount)
    expect(() => {
      driver.input('typo', text).pipe('a', 'b')
    })
      .to.throw(MillraceError)
      .with.property('code', 'NAME_UNKNOWN')
  })
})

describe('tests in a YAML file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-yaml-tests-'))
  after(() => {
    rmSync(folder, { recursive: true })
  })

  function application(name: string, tests: string): string {
    const path = join(folder, `${name}.yaml`)
    writeFileSync(
      path,
      `streams: { application.id: totals }
kafka: { bootstrap.servers: "127.0.0.1:9092" }
sources:
  orders: { topic: orders, key: string, value: json }
steps:
  paid: { from: orders, filter: value.status == "paid" }
  totals: { from: paid, groupBy: value.customer, sum: value.cents }
sinks:
  out: { from: totals, topic: totals }
errors: { deserialization: deadLetter, processing: deadLetter, deadLetterTopic: dead }
tests:
${tests}`,
    )
    return path
  }

  it('pass when outputs, dead letters and drops are as written', async () => {
    const results = await runYamlTests([
      application(
        'passing',
        `
  - name: sums what is paid
    inputs:
      - { source: orders, key: o1, value: { status: paid, customer: ada, cents: 5 } }
      - { source: orders, key: o2, value: { status: open, customer: ada, cents: 9 } }
      - { source: orders, key: o3, value: { nothing: here }, timestamp: 7 }
      - { commit: true }
      - { source: orders, key: o4, value: { status: paid, customer: ada, cents: 6 } }
      - { restart: true }
    outputs:
      - { sink: out, key: ada, value: 5 }
      - { sink: out, key: ada, value: 11 }
      - { topic: dead, key: o3, value: { nothing: here }, timestamp: 7 }
    dropped: { deadLettered: 1 }
`,
      ),
    ])

    expect(results).to.deep.equal([
      { name: 'sums what is paid', position: results[0]?.position, passed: true, differences: [] },
    ])
  })

  it('say at which line what differs', async () => {
    const [result] = await runYamlTests([
      application(
        'failing',
        `
  - name: wrong
    inputs:
      - { source: orders, key: o1, value: { status: paid, customer: ada, cents: 5 } }
      - { source: orders, key: o2, value: { status: paid, customer: bob, cents: 6 } }
    outputs:
      - { sink: out, key: ada, value: 4, timestamp: 3 }
    dropped: { late: 2 }
`,
      ),
    ])

    expect(result?.passed).to.equal(false)
    expect(result?.differences.map(difference => difference.replace(/^.*failing\.yaml/, ''))).to.deep.equal([
      ':18:9 totals, record 1: value is 5, expected 4',
      ':18:9 totals, record 1: timestamp is 0, expected 3',
      'totals, record 2: not expected: {"key":"bob","value":6}',
      'dropped late: 0, expected 2',
    ])
  })

  it('take an empty list of outputs at its word', async () => {
    const [result] = await runYamlTests([
      application(
        'silent',
        `
  - name: nothing comes out
    inputs:
      - { source: orders, key: o1, value: { status: paid, customer: ada, cents: 5 } }
    outputs: []
`,
      ),
    ])

    expect(result?.differences).to.deep.equal(['totals, record 1: not expected: {"key":"ada","value":5}'])
  })

  it('run in the driver like any topology', async () => {
    using driver = await TestDriver.fromYaml(application('driven', '  []'))
    driver.input('orders', text).pipe('o1', '{"status":"paid","customer":"ada","cents":5}')

    expect(driver.output('totals', text).readKeyValues()).to.deep.equal([['ada', '5']])
  })
})
