/**
 * Writes how Kafka Streams describes topologies under each optimization to `test/golden/topologies`, by running
 * `test/support/java/OptimizedTopologies.java`: `npm run build:test && node build/scripts/generate-topology-vectors.js`
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { javaWithStreams } from '../test/support/java-libraries.ts'

const { java, classPath } = await javaWithStreams()
const logging = '-Dorg.slf4j.simpleLogger.defaultLogLevel=off'
const words = [logging, '-cp', classPath, 'test/support/java/OptimizedTopologies.java']
const output = execFileSync(java, words, { encoding: 'utf8', maxBuffer: 16_777_216, timeout: 300_000 })
const described: unknown = JSON.parse(output)
writeFileSync('test/golden/topologies/optimized.json.gz', gzipSync(JSON.stringify(described), { level: 9 }))
