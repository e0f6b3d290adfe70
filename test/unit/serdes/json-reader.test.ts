import { expect } from 'chai'
import { ReaderUnderTest } from '../../support/reader-under-test.ts'

const reads = (text: string, ...learned: readonly string[]): boolean =>
  new ReaderUnderTest(learned).reads(Buffer.from(text))

const ORDER = '{"id":"o1","customer":"c1","status":"paid","cents":5,"fee":0}'

describe('JsonReader', () => {
  it('reads what is written as a text before, whatever its values are', () => {
    for (const text of [
      ORDER,
      '{"id":"o-123456789012345678901234567890","customer":"","status":"open","cents":-1.25,"fee":123456789012345}',
      '{"id":null,"customer":true,"status":false,"cents":-0,"fee":0.001}',
      '{"id":"o1","customer":"c1"}',
      '{}',
      `${ORDER} \n`,
    ]) {
      expect(reads(text, ORDER), text).to.equal(true)
    }
  })

  it('reads texts with spaces between their parts, as they were learned', () => {
    const spaced = JSON.stringify({ id: 'a', list: [1, { x: 2 }], at: { y: 'z' } }, null, 2)
    expect(reads(spaced.replace('"a"', '"b"'), spaced)).to.equal(true)
    expect(reads(spaced.replace('"id": ', '"id":'), spaced)).to.equal(false)
    expect(reads('{ }', ORDER)).to.equal(true)
  })

  it('reads nested objects and lists of any length', () => {
    const learned = '{"a":{"b":[{"c":1},{"c":2,"d":[[]]}]}}'
    for (const text of [
      '{"a":{"b":[]}}',
      '{"a":{"b":[{"c":3},{"c":4},{"c":5,"d":[[],[]]}]}}',
      '{"a":{"b":[ {"c":1} , 7 ]}}',
    ]) {
      expect(reads(text, learned), text).to.equal(true)
    }
    expect(reads('[[1],[2,3]]', '[[0]]')).to.equal(true)
    expect(reads('5', ORDER)).to.equal(true)
  })

  it('knows fields that come and go', () => {
    const learned = ['{"id":1,"a":1,"b":2,"c":3}', '{"id":2,"b":2}', '{"id":3,"c":3}']
    const reader = new ReaderUnderTest(learned)
    for (const text of ['{"id":9,"a":8,"b":7}', '{"id":7,"b":6,"c":5}', '{"id":4,"c":[]}', '{"id":""}']) {
      expect(reads(text, ...learned), text).to.equal(true)
      expect(reader.reads(Buffer.from(text)), text).to.equal(true)
    }
    expect(reads('{"id":1,"a":1,"c":3}', ...learned)).to.equal(false)
  })

  it('reads text beyond ASCII and escapes, and gives up on what is no text', () => {
    for (const text of [
      '{"a":"Jürgen"}',
      '{"a":"日本 😀"}',
      '{"a":"x\\ny\\u00fc\\"z\\\\"}',
      '{"a":"\\ud800"}',
      '{"a":"\x7f"}',
    ]) {
      expect(reads(text, '{"a":1}'), text).to.equal(true)
    }
    for (const text of ['{"a":"\\x"}', '{"a":"\n"}', '{"a":"\\u12"}', '{"a":"x', '{"a":"x\\"}', '{"a":"x\\']) {
      expect(reads(text, '{"a":1}'), text).to.equal(false)
    }
    expect(new ReaderUnderTest(['{"a":1}']).reads(Buffer.from('{"a":"\xff"}', 'latin1'))).to.equal(false)
    expect(new ReaderUnderTest(['{"a":1}']).reads(Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1'))).to.equal(false)
  })

  it('reads a text that repeats one before it, or differs from it by a character', () => {
    const reader = new ReaderUnderTest([ORDER])
    for (const status of ['paid', 'paid', 'open', 'pbid', 'paic', 'aaid', 'paid', 'paidpaid', '']) {
      expect(reader.reads(Buffer.from(ORDER.replace('paid', status))), status).to.equal(true)
    }
  })

  it('reads texts that are all different, and then the same', () => {
    const reader = new ReaderUnderTest([ORDER])
    for (let count = 0; count < 200; count += 1) {
      const id = `o${String(count < 150 ? count : 7)}`
      expect(reader.reads(Buffer.from(ORDER.replace('o1', id))), id).to.equal(true)
    }
  })

  it('leaves numbers to JSON.parse that it could round otherwise', () => {
    for (const number of ['1e5', '1E-5', '1234567890123456', '0.1234567890123456', '9007199254740993', '1.5e3']) {
      expect(reads(`{"a":${number}}`, '{"a":1}'), number).to.equal(false)
    }
    for (const number of [
      '0',
      '-0',
      '-0.0',
      '1.10',
      '0.1',
      '999999999999999',
      '-99999999999999.9',
      '0.30000000000000',
      '5.000',
    ]) {
      expect(reads(`{"a":${number}}`, '{"a":1}'), number).to.equal(true)
    }
  })

  it('gives up on what is no JSON', () => {
    for (const text of [
      '',
      ' ',
      '{',
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":1,',
      '{"a":1,}',
      '{"a":1}}',
      '{"a":1}x',
      '{"a":}',
      '{"a":01}',
      '{"a":-}',
      '{"a":1.}',
      '{"a":.5}',
      '{"a":+1}',
      '{"a":NaN}',
      '{"a":tru}',
      '{"a":nulll}',
      '{"a":[1,]}',
      '{"a":[,1]}',
      '{"a":[1 2]}',
      '{"a":[1',
      '{"a":1 "b":2}',
      '{"a":--1}',
      '\ufeff{"a":1}',
      '{"a":1}\0',
    ]) {
      expect(reads(text, '{"a":1,"b":2}', '{"a":[1]}'), text).to.equal(false)
    }
  })

  it('leaves keys to JSON.parse that every object inherits', () => {
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '\\u005f_proto__']) {
      const text = `{"a":1,"${key}":{"prototype":{}}}`
      expect(new ReaderUnderTest([text]).reads(Buffer.from(text)), key).to.equal(false)
    }
  })

  it('gives later ones of equal keys, and numbers as keys in their order, as JSON.parse does', () => {
    const twice = '{"a":1,"b":2,"a":3}'
    for (const text of [
      '{"a":"x","b":"y","a":"z"}',
      '{"a":1,"b":2,"a":"z"}',
      '{"a":"x","b":2,"a":3}',
      '{"a":[],"b":[],"a":""}',
    ])
      expect(reads(text, twice), text).to.equal(true)
    expect(reads('{"b":1,"7":2,"1":3}', '{"b":0,"7":0,"1":0}')).to.equal(true)
  })

  it('reads every change of a byte as JSON.parse does, or not at all', () => {
    const texts = ['{"id":"o1","n":-12.5,"ok":true,"at":{"x":[1,"é"],"y":null}}', '{"id":"o1", "at": {"x":[]}}']
    const reader = new ReaderUnderTest(texts)
    let read = 0
    for (const text of texts) {
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; at += 1) {
        for (let byte = 0; byte < 256; byte += 1) {
          const changed = Buffer.from(bytes)
          changed[at] = byte
          if (reader.reads(changed)) read += 1
        }
        if (reader.reads(bytes.subarray(0, at))) read += 1
        if (reader.reads(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]))) read += 1
        if (reader.reads(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + 1), bytes.subarray(at)])))
          read += 1
      }
    }
    expect(read).to.be.greaterThan(500)
  })
})
