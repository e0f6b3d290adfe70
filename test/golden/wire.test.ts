import { expect } from 'chai'
import { prepareCompression } from '../../src/kafka/records/compression.ts'
import { goldenWireDirectory, type JsonObject, readGoldenFiles } from './golden-file.ts'
import { claimApiSample } from './wire-api.ts'
import { claimRecordBatches } from './wire-records.ts'
import {
  claimConsumerProtocol,
  claimCrc32c,
  claimMurmur2,
  claimMurmur3,
  claimOffsetMetadata,
  claimVarint,
} from './wire-values.ts'

/** How the samples of each form of file are checked. */
const CLAIMS: Readonly<Record<string, (sample: JsonObject) => void>> = {
  'consumer-protocol': claimConsumerProtocol,
  crc32c: claimCrc32c,
  murmur2: claimMurmur2,
  'murmur3-128': claimMurmur3,
  'record-batches': claimRecordBatches,
  'streams-offset-metadata': claimOffsetMetadata,
  varints: claimVarint,
}

/** Undefined for a file of unknown form. */
function claimOf(name: string): ((sample: JsonObject) => void) | undefined {
  return /^api-\d+-\w+$/.test(name) ? claimApiSample : CLAIMS[name]
}

describe('golden wire files', () => {
  before(prepareCompression)

  const files = readGoldenFiles(goldenWireDirectory())

  it('are there', () => {
    expect(files).to.have.length.above(0)
  })

  for (const file of files) {
    it(`${file.name}: every sample is read and written as the JVM does`, () => {
      const claim = claimOf(file.name)
      if (claim === undefined) throw new Error(`${file.name} is a file of unknown form`)
      expect(file.samples).to.have.length.above(0)
      for (const [index, sample] of file.samples.entries()) {
        try {
          claim(sample)
        } catch (error) {
          throw new Error(`sample ${String(index)} of ${file.name}: ${JSON.stringify(sample).slice(0, 400)}`, {
            cause: error,
          })
        }
      }
    })
  }
})
