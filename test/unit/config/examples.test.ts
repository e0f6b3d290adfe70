import { expect } from 'chai'
import { readdirSync } from 'node:fs'
import { loadApplication } from '../../../src/config/load-application.ts'
import { runYamlTests } from '../../../src/testing/yaml-tests.ts'

describe('the example applications', () => {
  for (const file of readdirSync('config').filter(name => name.endsWith('.yaml'))) {
    it(`config/${file} loads without warnings and passes its own tests`, async () => {
      const { warnings, tests } = await loadApplication([`config/${file}`], { environment: {} })
      expect(warnings).to.deep.equal([])
      expect(tests).not.to.deep.equal([])
      const results = await runYamlTests([`config/${file}`], { environment: {} })
      expect(
        results.flatMap(({ name, differences }) => differences.map(difference => `${name}: ${difference}`)),
      ).to.deep.equal([])
    })
  }
})
