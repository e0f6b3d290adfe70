import { expect } from 'chai'
import { join } from 'node:path'
import { prepareCompression } from '../../src/kafka/records/compression.ts'
import { foundIn, goldenDirectory, type GoldenFile, type JsonObject, readGoldenFiles } from './golden-file.ts'
import { claimApiSample } from './wire-api.ts'
import { claimRecordBatches } from './wire-records.ts'
import { claimVerificationBatches, claimVerificationPartitions } from './wire-verification.ts'
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

/** What `millrace verify` reads by code of its own, besides. */
const CLAIMS_OF_VERIFICATION: Readonly<Record<string, (sample: JsonObject) => void>> = {
  murmur2: claimVerificationPartitions,
  'record-batches': claimVerificationBatches,
}

/** Undefined for a file of unknown form. */
function claimOf(name: string): ((sample: JsonObject) => void) | undefined {
  return /^api-\d+-\w+$/.test(name) ? claimApiSample : CLAIMS[name]
}

describe('golden wire files', () => {
  before(prepareCompression)

  const found = foundIn(goldenDirectory('wire'), readGoldenFiles)
  const files = found instanceof Error ? [] : found

  it('are there', () => {
    if (found instanceof Error) throw found
    expect(files).to.have.length.above(0)
  })

  it('are not there in a folder without any, nor in what is no folder', () => {
    const [docs, file] = ['docs', 'package.json'].map(name => foundIn(join(process.cwd(), name), readGoldenFiles))
    expect(docs).to.be.an('error').with.property('message').that.matches(/^no golden file is in /)
    expect(file).to.be.an('error').with.property('message').that.matches(/package\.json is no folder$/)
  })

  it('are those of the project where GOLDEN_DIR is empty', () => {
    expect(goldenDirectory('wire', '')).to.equal(join(process.cwd(), 'test', 'golden', 'wire'))
    expect(goldenDirectory('wire', 'elsewhere')).to.equal('elsewhere')
  })

  for (const file of files) {
    it(`${file.name}: every sample is read and written as the JVM does`, () => {
      const claim = claimOf(file.name)
      if (claim === undefined) throw new Error(`${file.name} is a file of unknown form`)
      claimAll(file, claim)
    })
  }

  // Without any file there is one mistake to tell, and not one for each form.
  for (const [name, claim] of Object.entries(found instanceof Error ? {} : CLAIMS_OF_VERIFICATION)) {
    it(`${name}: verification reads every sample as the JVM does`, () => {
      const file = files.find(each => each.name === name)
      if (file === undefined) throw new Error(`${name} is not there`)
      claimAll(file, claim)
    })
  }
})

function claimAll({ name, samples }: GoldenFile, claim: (sample: JsonObject) => void): void {
  expect(samples).to.have.length.above(0)
  for (const [index, sample] of samples.entries()) {
    try {
      claim(sample)
    } catch (error) {
      throw new Error(`sample ${String(index)} of ${name}: ${JSON.stringify(sample).slice(0, 400)}`, { cause: error })
    }
  }
}
