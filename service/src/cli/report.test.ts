import { expect, it } from 'vitest'
import { report } from './report.js'
import { UsageError } from './terminal.js'

const range = ['--from', '2026-01-01T00:00:00Z', '--to', '2026-02-01T00:00:00Z']

it.each([
  ['nothing', []],
  ['another noun', ['vault', 'acme', ...range]],
  ['a distributor without the word', ['acme', ...range]],
])('a report of %s is refused with how it is called, before anything is opened', async (_what, words) => {
  await expect(report.run(words)).rejects.toThrow(UsageError)
  await expect(report.run(words)).rejects.toThrow(/^report: say distributor\nopenearn report distributor ID/)
})
