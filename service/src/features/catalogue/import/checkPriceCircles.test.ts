import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { smallCatalogue } from '../../../../test/catalogueFile.js'
import { openTestDatabase, type TestDatabase } from '../../../../test/database.js'
import { systemClock } from '../../../kernel/clock.js'
import { type CatalogueImportError, importCatalogue } from './importCatalogue.js'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

const load = (file: object) => importCatalogue({ db: test.db, clock: systemClock }, JSON.stringify(file))
const problemsOf = (text: string): Promise<CatalogueImportError> =>
  importCatalogue({ db: test.db, clock: systemClock }, text).then(
    () => expect.unreachable('the file was imported'),
    (error: CatalogueImportError) => error,
  )

describe('an import', () => {
  it('refuses vaults whose shares are priced by each other, whether the file or the database has the others', async () => {
    const file = smallCatalogue()
    const [first, second, ...others] = file.opportunities ?? []
    if (!first || !second) throw new Error('the file has too few opportunities')
    const { chainId } = first.vault
    const [a, b] = [`0x${'7a'.repeat(20)}`, `0x${'7b'.repeat(20)}`]
    const token = { chainId, decimals: 18, symbol: 'S', name: 'S' }
    const tokens = [...(file.tokens ?? []), { ...token, address: a }, { ...token, address: b }]
    const on = ({ vault, ...entry }: typeof first, address: string, asset: string) => {
      return { ...entry, vault: { ...vault, chainId, address, asset } }
    }
    const messageOf = (...path: string[]) =>
      `the price of the share would follow from itself: ${path.join(' ← ')}; name the asset that the vault takes, or leave one of these vaults out`
    const asked = (opportunities: object[]) => problemsOf(JSON.stringify({ ...file, tokens, opportunities }))
    expect((await asked([on(first, a, b), on(second, b, a), ...others])).problems).toMatchObject([
      { path: 'opportunities[0].vault.asset', message: messageOf(a, b, a) },
      { path: 'opportunities[1].vault.asset', message: messageOf(b, a, b) },
    ])
    // A share of a share is priced by the asset at the end.
    await load({ ...file, tokens, opportunities: [on(first, a, b), ...others] })
    expect((await asked([on(second, b, a)])).problems).toMatchObject([
      { path: 'opportunities[0].vault.asset', message: messageOf(b, a, b) },
    ])
    await load({ ...file, tokens, opportunities: [on(second, b, first.vault.asset)] })
  })
})
