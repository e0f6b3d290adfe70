import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { string } from '../../../src/serdes/text.ts'
import {
  keyValueStore,
  sessionStore,
  timestampedKeyValueStore,
  versionedKeyValueStore,
  windowStore,
} from '../../../src/stores/store-spec.ts'

const FACTORIES = { keyValueStore, timestampedKeyValueStore, windowStore, sessionStore, versionedKeyValueStore }
const TIMES = { windowSize: '1m', retention: '2m', historyRetention: '2m' }
const GOOD = { key: string, value: string, ...TIMES }

/** What a caller without types is told. */
function messageOf(factory: (...args: never[]) => unknown, ...args: readonly unknown[]): string {
  try {
    Reflect.apply(factory, undefined, args)
    return 'accepted'
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error
    return `${error.code} ${error.message}`
  }
}

describe('a store of a processor', () => {
  for (const [name, factory] of Object.entries(FACTORIES)) {
    it(`has a name and serdes, else ${name} says what is missing`, () => {
      expect(messageOf(factory, 'seen', GOOD)).to.equal('accepted')
      expect(messageOf(factory, 'seen', { ...GOOD, key: undefined })).to.match(/^USAGE .*"key" is a serde, got none/)
      expect(messageOf(factory, 'seen', { ...GOOD, value: 'string' })).to.match(
        /^USAGE .*"value" is a serde, got string/,
      )
      expect(messageOf(factory, 'seen')).to.match(/^USAGE .*options are an object/)
      expect(messageOf(factory, GOOD)).to.match(/^USAGE .*name of a store is a text/)
      expect(messageOf(factory, '', GOOD)).to.match(/^USAGE .*name of a store is a text/)
    })
  }
})
