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
  await expect(report.run(words)).rejects.toThrow(
    /^report: say distributor or coverage\nopenearn report distributor ID/,
  )
})

it.each([
  [[], /--month is missing/],
  [['--month', '2026-13'], /--month must be a month such as 2026-10/],
])('a report of coverage is refused for %j, before anything is opened', async (words, sentence) => {
  await expect(report.run(['coverage', ...words])).rejects.toThrow(sentence)
})
