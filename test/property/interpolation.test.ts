import { expect } from 'chai'
import fc from 'fast-check'
import { interpolate, type InterpolationSources } from '../../src/config/interpolation.ts'
import { ProblemList } from '../../src/config/problems.ts'
import { sourceFile } from '../../src/config/source-file.ts'
import { parseYaml } from '../../src/config/yaml-tree.ts'

const NAME = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,8}$/)

function sourcesOf(environment: Readonly<Record<string, string>>): InterpolationSources {
  return {
    environment,
    readFile: () => {
      throw new Error('no files here')
    },
  }
}

function escaped(text: string): string {
  return text.replaceAll('$', '$$$$')
}

describe('interpolation', () => {
  it('leaves texts without a dollar sign alone, and gives back any text whose dollar signs are doubled', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        expect(interpolate(text.replaceAll('$', '$$$$'), sourcesOf({}))).to.include({ text, references: 0 })
      }),
    )
  })

  it('inserts what a variable holds, whatever it is, exactly once', () => {
    fc.assert(
      fc.property(fc.string(), NAME, fc.string({ minLength: 1 }), fc.string(), (before, name, value, after) => {
        const result = interpolate(`${escaped(before)}\${${name}}${escaped(after)}`, sourcesOf({ [name]: value }))
        expect(result).to.deep.equal({ text: before + value + after, references: 1 })
      }),
    )
  })

  it('cannot be made to change the structure of a file by a value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), value => {
        const problems = new ProblemList()
        const file = sourceFile('f.yaml', 'a: ${V}\nb: "x${V}y"\nc: [1]\n')
        const tree = parseYaml(file, sourcesOf({ V: value }), problems)
        expect(problems.hasMistakes).to.equal(false)
        if (tree?.kind !== 'map') throw new Error('not a map')
        expect([...tree.entries.keys()]).to.deep.equal(['a', 'b', 'c'])
        expect(tree.entries.get('a')?.node).to.include({ kind: 'scalar', value, text: value })
        expect(tree.entries.get('b')?.node).to.include({ value: `x${value}y` })
      }),
    )
  })

  it('never throws: a text is resolved, or a problem lies inside it', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('$', '{', '}', ':', '-', '?', 'A', 'file:', ' ') }), text => {
        const result = interpolate(text, sourcesOf({ A: 'a' }))
        if ('text' in result) return
        expect(result.start).to.be.within(0, text.length)
        expect(result.end).to.be.within(result.start, text.length)
      }),
    )
  })
})
