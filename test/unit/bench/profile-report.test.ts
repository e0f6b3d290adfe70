import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { PROFILE_PAGE } from '../../../bench/documents.ts'
import { profileText, withProfiles } from '../../../bench/profile-report.ts'
import type { ProfileReport } from '../../../bench/profile-run.ts'
import { parseProfiles, PROFILES_FILE } from '../../../bench/result-file.ts'

const report: ProfileReport = {
  id: 'copy',
  date: '2026-01-31',
  commit: 'abc1234',
  busyBefore: 1.14,
  records: 3_000,
  micros: 2,
  steps: [
    {
      name: 'encode',
      share: 0.75,
      functions: [
        { name: 'src/kafka/append.js append', share: 0.7 },
        { name: 'src/kafka/append.js grow', share: 0.005 },
      ],
    },
    { name: 'sockets', share: 0.249, functions: [{ name: 'writev', share: 0.2 }] },
    { name: 'load', share: 0.0005, functions: [] },
  ],
}
const PAGE = 'before\n<!-- profiles -->\nold\n<!-- end of profiles -->\nafter\n'

describe('the report of profiles', () => {
  it('gives each step its share of the time of a record', () => {
    const text = profileText([report])
    expect(text).to.match(/^encode +75\.0 % +1\.50$/m)
    expect(text).to.match(/^ +src\/kafka\/append\.js append +70\.0 % +1\.40$/m)
    expect(text).to.not.include('grow')
  })

  it('takes the place of the section in a page, and nothing else', () => {
    const page = withProfiles(PAGE, [report])
    expect(page).to.match(/^before\n<!-- profiles -->\n[\s\S]*<!-- end of profiles -->\nafter\n$/)
    expect(page).to.include('| encode | 75.0 % | 1.50 | `kafka/append.js append` 70.0 % |')
    expect(page).to.include('| sockets | 24.9 % | 0.50 |  |')
    expect(page).to.include('(2026-01-31, commit abc1234, processors busy before: 1.1)')
    expect(page).to.not.include('old')
    expect(page).to.not.include('| load |')
    expect(withProfiles(page, [report])).to.equal(page)
  })

  it('is refused by a page without a section', () => {
    expect(() => withProfiles('nothing', [report])).to.throw('no section')
  })
})

describe('docs/performance.md', () => {
  it('shows the kept profiles (npm run bench -- --render)', () => {
    const reports = parseProfiles(readFileSync(PROFILES_FILE, 'utf8'))
    expect(reports.map(({ id }) => id)).to.include.members(['copy', 'count'])
    const page = readFileSync(PROFILE_PAGE, 'utf8')
    expect(withProfiles(page, reports)).to.equal(page)
  })
})
