import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type MadeStatement, makeStatement, type StatementAsk } from '../features/audit/index.js'
import { findDistributorRow } from '../features/catalogue/index.js'
import { withContext } from './command.js'
import { requireMonth } from './month.js'
import { answer, type Command, parseFlags, parseWhole, requireFlag, UsageError } from './terminal.js'

const usage = `openearn statement DISTRIBUTOR --month YYYY-MM --out FOLDER [--rate-bps N [--token CHAIN:ADDRESS]] [--draft]

Writes what a month (UTC) of a distributor came to: USD-days by vault as CSV and JSON, and a manifest with their SHA-256 and the
line that counts them again from exports alone. With --rate-bps, hundredths of a percent a year, it says what is owed, with --token
in that token too. A month that is not final on every chain is refused; --draft writes it as it is now, marked, and keeps nothing.

A statement is kept. Asked again it is the same bytes. Where facts of the month have changed since, a further revision is written,
with the difference of each vault and why.`

export const statement: Command = {
  usage,
  run: async (words) => {
    const { ask, out, isDraft } = parse(words)
    await withContext(async (ctx) => {
      const { distributorId, month } = ask
      if (!(await findDistributorRow(ctx.db, distributorId)))
        throw new UsageError(`there is no distributor ${distributorId}`)
      const made = await makeStatement(ctx, ask, { isDraft })
      if ('problems' in made)
        throw new UsageError(`no statement of ${month}: ${made.problems.join('; ')}. --draft writes what is known now`)
      await mkdir(out, { recursive: true })
      const { name, document, rowsCsv, manifest } = made
      for (const [end, text] of Object.entries({ json: document, csv: rowsCsv, 'manifest.json': manifest }))
        await writeFile(join(out, `${name}.${end}`), text)
      const { revision, sha256, usdDays, rate, changes } = made
      const file = join(out, `${name}.json`)
      answer({ file, revision, sha256, usdDays, rate, changes }, tell(ask, made))
    })
  },
}

function parse(words: string[]): { ask: StatementAsk; out: string; isDraft: boolean } {
  const text = { type: 'string' } as const
  const flags = { month: text, out: text, 'rate-bps': text, token: text, draft: { type: 'boolean' } } as const
  const { values, positionals } = parseFlags(words, flags, 1)
  const [distributorId] = positionals
  if (distributorId === undefined) throw new UsageError(`statement: give the builder code first\n${usage}`)
  const { month } = requireMonth(values.month)
  const rate = values['rate-bps']
  const rateBps = parseWhole(rate, 1)
  if (rate !== undefined && rateBps === undefined)
    throw new UsageError('--rate-bps must be a whole number from 1 on: hundredths of a percent a year')
  const [, chainId, address] = /^([0-9]{1,15}):(0x[0-9a-fA-F]{40})$/.exec(values.token ?? '') ?? []
  if (values.token !== undefined && address === undefined) throw new UsageError('--token must be CHAIN:ADDRESS')
  if (address !== undefined && rateBps === undefined) throw new UsageError('--token goes with --rate-bps')
  const token = address === undefined ? undefined : { chainId: Number(chainId), address: address.toLowerCase() }
  return {
    ask: { distributorId, month, rateBps, token },
    out: requireFlag(values.out, 'out'),
    isDraft: values.draft === true,
  }
}

function tell({ distributorId, month }: StatementAsk, made: Exclude<MadeStatement, { problems: unknown }>): string[] {
  const { revision, usdDays, rate, sha256, changes } = made
  const owed = rate
    ? `, owed ${rate.owedUsd} USD${rate.token ? ` or ${rate.token.owed} units of ${rate.token.address}` : ''}`
    : ''
  return [
    `${distributorId} ${month}, ${revision === null ? 'DRAFT' : `revision ${revision}`}: ${usdDays} USD-days${owed}, SHA-256 ${sha256}`,
    ...changes.map(
      ({ chainId, vault, before, after, difference, reasons }) =>
        `since revision ${Number(revision) - 1}, ${chainId}:${vault}: ${before} is ${after} now (${difference}): ${reasons.join(', ')}`,
    ),
  ]
}
