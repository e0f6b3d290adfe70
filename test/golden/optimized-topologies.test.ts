import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { TestDriver } from '../../src/testing/index.ts'
import { long, streams, string } from '../../src/index.ts'
import { describedAs, OPTIMIZED_TOPOLOGIES } from './optimized-topologies.ts'

/** Kafka Streams refuses these, because two topics stand behind one operator; we merge them. */
const REFUSED = /^refused: Found a null keyChangingChild node/

const file = join(process.cwd(), 'test', 'golden', 'topologies', 'optimized.json.gz')
const golden = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Record<string, Record<string, string>>

describe('optimized topologies', () => {
  it('are the same ones as those described by Kafka Streams', () => {
    expect(Object.keys(OPTIMIZED_TOPOLOGIES)).to.deep.equal(Object.keys(golden))
  })

  for (const [name, byOptimization] of Object.entries(golden)) {
    for (const [optimization, text] of Object.entries(byOptimization)) {
      const define = OPTIMIZED_TOPOLOGIES[name]
      if (REFUSED.test(text)) {
        it(`${name} under ${optimization} has one repartition topic, where Kafka Streams refuses it`, () => {
          if (define === undefined) throw new Error(`no topology ${name}`)
          expect(describedAs(define, optimization).match(/Sink: \S+-repartition-sink/g)).to.have.length(1)
        })
        continue
      }
      it(`${name} under ${optimization} is described as by Kafka Streams`, () => {
        if (define === undefined) throw new Error(`no topology ${name}`)
        expect(describedAs(define, optimization)).to.equal(text)
      })
    }
  }

  it('name what they cannot do', () => {
    expect(() => describedAs(b => b.stream('a', { key: string, value: string }).to('b'), 'everything')).to.throw(
      /"everything" is none of none, all, reuse.ktable.source.topics/,
    )
  })

  for (const optimization of ['none', 'all']) {
    it(`give the same results with ${optimization}`, () => {
      const topology = streams(b => {
        const words = b
          .stream('lines', { key: string, value: string })
          .map((value, key) => [value, key])
          .withSerdes({ key: string, value: string })
        words
          .filter(value => value !== 'b')
          .groupByKey()
          .count({ store: 'some' })
          .toStream()
          .to('some')
        words.groupByKey().count({ store: 'all' }).toStream().to('all')
        words
          .leftJoin(b.table('names', { key: string, value: string, store: 'names' }), (word, n) => `${word}/${String(n)}`)
          .to('named', { key: string, value: string })
      })
      using driver = new TestDriver(topology, { streams: { 'topology.optimization': optimization } })
      const lines = driver.input('lines', { key: string, value: string })
      driver.input('names', { key: string, value: string }).pipe('x', 'name of x', 0)
      lines.pipe('a', 'x', 1)
      lines.pipe('b', 'x', 2)
      lines.pipe('a', 'y', 3)
      lines.pipe('c', 'x', 4)
      const read = (topic: string): unknown =>
        topic === 'named'
          ? driver.output(topic, { key: string, value: string }).readKeyValues()
          : driver.output(topic, { key: string, value: long }).readKeyValues()
      expect(read('some')).to.deep.equal([
        ['x', 1],
        ['y', 1],
        ['x', 2],
      ])
      expect(read('all')).to.deep.equal([
        ['x', 1],
        ['x', 2],
        ['y', 1],
        ['x', 3],
      ])
      expect(read('named')).to.deep.equal([
        ['x', 'a/name of x'],
        ['x', 'b/name of x'],
        ['y', 'a/null'],
        ['x', 'c/name of x'],
      ])
    })
  }
})
