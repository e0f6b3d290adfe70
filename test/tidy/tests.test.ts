import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const files = ['unit', 'property', 'golden', 'integration', 'contract', 'tidy', 'chaos']
  .map(name => `test/${name}`)
  .flatMap(folder => {
    try {
      return readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter(name => /\.(?:test|chaos)\.ts$/.test(name))
        .map(name => join(folder, name))
    } catch {
      return []
    }
  })

describe('tests', () => {
  it('are found', () => {
    expect(files.length).to.be.greaterThan(10)
  })

  it('are neither left out nor run alone', () => {
    const marker = /\b(?:describe|it|context)\s*\.\s*(?:only|skip)\b|\bthis\.skip\(|\bx(?:it|describe)\(/
    expect(files.filter(file => marker.test(readFileSync(file, 'utf8')))).to.deep.equal([])
  })

  it('claim something', () => {
    // A file that runs a contract suite claims what the suite claims.
    const claims = /\bexpect\(|\bassert\b|\bfc\.assert\(|\brejects\(|\bdescribe\w+Contract\(/
    expect(files.filter(file => !claims.test(readFileSync(file, 'utf8')))).to.deep.equal([])
  })
})
