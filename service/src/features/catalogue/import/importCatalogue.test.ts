import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { smallCatalogue } from '../../../../test/catalogueFile.js'
import { openTestDatabase, type TestDatabase } from '../../../../test/database.js'
import { fakeClock } from '../../../kernel/clock.js'
import { findPrice } from '../../../prices/index.js'
import { listChainSettings } from '../../../rpc/storeChains.js'
import { buildSnapshot, findOpportunity } from '../memory/snapshot.js'
import { readCatalogue, readVersion } from '../store.js'
import { slugId } from './catalogueFile.js'
import { CatalogueImportError, importCatalogue } from './importCatalogue.js'

let test: TestDatabase
const clock = fakeClock('2026-11-20T12:00:00Z')

beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test.close())

const load = (text: string) => importCatalogue({ db: test.db, clock }, text, { fileName: 'demo.json' })
const loadFile = (file: unknown) => load(JSON.stringify(file, null, 2))
const read = async () => buildSnapshot(await readCatalogue(test.db))

async function problemsOf(text: string) {
  const error = await load(text).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof CatalogueImportError)) throw new Error(`no import error but ${error}`)
  return error
}

describe('importing a catalogue file', () => {
  it('writes the escrow of a vault in lower case, and takes it back when the file names none', async () => {
    const escrow = '0xABcdEFABcdEFabcdEfAbCdefabcdeFABcDEFabCD'
    const file = smallCatalogue()
    const [first] = file.opportunities ?? []
    if (!first) throw new Error('no opportunity to change')
    const readEscrow = async () => {
      const [row] = await test.db`select escrow from vaults where address = ${first.vault.address.toLowerCase()}`
      return row?.['escrow']
    }
    await loadFile({ ...file, opportunities: [{ ...first, vault: { ...first.vault, escrow } }] })
    expect(await readEscrow()).toBe(escrow.toLowerCase())
    await loadFile(file)
    expect(await readEscrow()).toBeNull()
    await expect(
      problemsOf(JSON.stringify({ ...file, opportunities: [{ ...first, vault: { ...first.vault, escrow: '0x12' } }] })),
    ).resolves.toBeInstanceOf(CatalogueImportError)
  })

  it('writes what a chain can be swapped through, keeps it when left out, and refuses a hub that is no token', async () => {
    const file = smallCatalogue()
    const [chain, ...others] = file.chains ?? []
    const [token] = file.tokens ?? []
    if (!chain || token?.chainId !== chain.chainId) throw new Error('no chain with a token to change')
    const router = '0xABcdEFABcdEFabcdEfAbCdefabcdeFABcDEFabCD'
    const withSwap = (hubTokens: string[]) => {
      const uniswapV3 = { factory: router, router, quoter: router, fees: [500] }
      const orders = { settlement: router, relayer: router, authenticator: router, venue: 'local' as const }
      const wrappers = [{ address: router, asset: router }]
      const swap = { hubTokens, uniswapV3, wrappers, enso: { router, spender: router }, lifi: { router }, orders }
      return { ...file, chains: [{ ...chain, swap }, ...others] }
    }
    const readSwap = async () => (await read()).chains.get(chain.chainId)?.swap
    await loadFile(withSwap([token.address.toUpperCase().replace('X', 'x')]))
    const low = router.toLowerCase()
    const stored = {
      hubTokens: [token.address.toLowerCase()],
      uniswapV3: { factory: low, router: low, quoter: low, fees: [500] },
      wrappers: [{ address: low, asset: low }],
      enso: { router: low, spender: low },
      lifi: { router: low },
      orders: { settlement: low, relayer: low, authenticator: low, venue: 'local' },
    }
    expect(await readSwap()).toEqual(stored)
    await loadFile(file)
    expect(await readSwap()).toEqual(stored)
    expect((await problemsOf(JSON.stringify(withSwap([router])))).problems).toMatchObject([
      { path: 'chains[0].swap.hubTokens[0]', message: `no token ${router} on chain ${chain.chainId}` },
    ])
  })

  it('keeps the forwarders of a chain in lower case, each since its instant, until a file names others', async () => {
    const file = smallCatalogue()
    const [chain, ...others] = file.chains ?? []
    if (!chain) throw new Error('the file has no chain')
    const address = '0xABcdEFABcdEFabcdEfAbCdefabcdeFABcDEFabCD'
    const forwarders = [{ address, activeFrom: '2026-01-01T00:00:00Z' }]
    await loadFile({ ...file, chains: [{ ...chain, forwarders }, ...others] })
    for (const again of [undefined, smallCatalogue()]) {
      if (again) await loadFile(again)
      const rows = await test.db`select forwarders from chains where chain_id = ${chain.chainId}`
      expect(rows).toEqual([{ forwarders: [{ ...forwarders[0], address: address.toLowerCase() }] }])
    }
  })

  it('refuses a second vault on one share token, whether the file or the database has the first', async () => {
    const file = smallCatalogue()
    const [first, second, ...others] = file.opportunities ?? []
    if (!first || !second) throw new Error('the file has too few opportunities')
    const share = first.vault.address
    const own = { chainId: first.vault.chainId, address: `0x${'7c'.repeat(20)}`, receiptToken: share }
    const twin = { ...second, vault: { ...second.vault, ...own } }
    const message = `${share.toLowerCase()} is the share of vault ${first.vault.address.toLowerCase()} already: a second vault on one share token (ERC-7575) cannot be listed, since its balances would be counted twice`
    const refused = { path: 'opportunities[1].vault.receiptToken', message }
    const problemsIn = async (opportunities: unknown[]) =>
      (await problemsOf(JSON.stringify({ ...file, opportunities }))).problems
    expect(await problemsIn([first, twin, ...others])).toContainEqual(expect.objectContaining(refused))
    await loadFile({ ...file, opportunities: [first] })
    expect(await problemsIn([twin])).toContainEqual(
      expect.objectContaining({ ...refused, path: 'opportunities[0].vault.receiptToken' }),
    )
  })

  it('writes every entry with stable ids, raises the version and records the pegs', async () => {
    const before = await readVersion(test.db)
    expect(await loadFile(smallCatalogue())).toEqual({
      organizations: 4,
      chains: 2,
      tokens: 6,
      opportunities: 2,
      products: 1,
      distributors: 2,
    })
    expect(await readVersion(test.db)).toEqual({ ...before, version: before.version + 1 })
    const snapshot = await read()
    const id = slugId.opportunity('usdc-ethereum')
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(findOpportunity(snapshot, id.toUpperCase())).toMatchObject({
      name: 'USDC savings',
      estimatedApr: 4.3,
      curator: { name: 'Acme Curation' },
      providers: [{ name: 'Northwind' }],
      lendingProtocols: [{ name: 'Lendly' }],
      products: [{ name: 'Savings' }],
      vault: { assetDecimals: 6, receiptDecimals: 18, activeFrom: clock.now() },
    })
    expect(snapshot.distributorOpportunities.get('walletco')).toEqual(new Set([id]))
    expect(snapshot.distributors.get('walletco')).toMatchObject({ signedOnly: true })
    const peg = await findPrice(test.db, { chainId: 1, address: `0xa${'1'.padStart(39, '0')}` }, clock.now())
    expect(Number(peg?.priceUsd)).toBe(1)
  })

  it('imported again changes nothing but the version, and adds no price', async () => {
    await loadFile(smallCatalogue())
    const { version: _first, ...first } = await readCatalogue(test.db)
    clock.advance(60_000)
    await loadFile(smallCatalogue())
    const { version: _second, ...second } = await readCatalogue(test.db)
    expect(second).toEqual(first)
    const prices = await test.db<{ count: number }[]>`select count(*) as count from price_observations`
    expect(prices[0]?.count).toBe(2)
  })

  it('replaces what describes an entry, keeps switches left out, and leaves unnamed entries alone', async () => {
    await loadFile(smallCatalogue())
    await test.db`update chains set watched = true, rpc_urls = '{http://127.0.0.1:1}' where chain_id = 8453`
    const { chains, opportunities } = smallCatalogue()
    const [first, second] = opportunities
    await loadFile({ chains, opportunities: [{ ...second, name: 'Renamed', depositEnabled: undefined }] })
    const snapshot = await read()
    expect(snapshot.opportunities.size).toBe(2)
    expect(snapshot.chains.get(8453)).toMatchObject({ watched: true, rpcUrls: ['http://127.0.0.1:1'] })
    expect(findOpportunity(snapshot, slugId.opportunity('usdc-base'))).toMatchObject({
      name: 'Renamed',
      depositEnabled: false,
    })
    expect(findOpportunity(snapshot, slugId.opportunity(first?.slug ?? ''))?.incentives).toHaveLength(3)
  })

  it('takes the clock that a chain keeps, and leaves it where a file does not name it', async () => {
    const { chains } = smallCatalogue()
    const clockOf = async () => (await listChainSettings(test.db)).find(({ chainId }) => chainId === 8453)?.clock
    const load = (clock?: string) =>
      loadFile({ chains: chains?.map((chain) => ({ ...chain, ...(clock ? { clock } : {}) })) })
    await load()
    expect(await clockOf()).toBe('wall')
    await load('chain')
    await load()
    expect(await clockOf()).toBe('chain')
    await expect(load('sun')).rejects.toThrow('clock')
    await load('wall')
    expect(await clockOf()).toBe('wall')
  })

  it('dates a change of the signed-only setting from now', async () => {
    await loadFile(smallCatalogue())
    const { distributors } = smallCatalogue()
    clock.set('2026-11-21T00:00:00Z')
    await loadFile({ distributors: distributors.map((entry) => ({ ...entry, signedOnly: false })) })
    const rows = await test.db`
      select signed_only, active_from from distributor_settings where distributor_id = 'walletco' order by active_from`
    expect(rows.map((row) => row['signed_only'])).toEqual([true, false])
    expect(rows[1]?.['active_from']).toEqual(new Date('2026-11-21T00:00:00Z'))
  })

  it('corrects the decimals of a token in the vaults that use it', async () => {
    await loadFile(smallCatalogue())
    const tokens = smallCatalogue().tokens.map((token) => ({ ...token, decimals: token.decimals === 6 ? 8 : 18 }))
    await loadFile({ tokens })
    const { vaults } = await readCatalogue(test.db)
    expect(vaults.map((vault) => [vault.assetDecimals, vault.receiptDecimals])).toEqual([
      [8, 18],
      [8, 18],
    ])
  })

  it('is one at a time: twenty imports at once all succeed and raise the version twenty times', async () => {
    await loadFile(smallCatalogue())
    const before = await readVersion(test.db)
    await Promise.all(Array.from({ length: 20 }, () => loadFile(smallCatalogue())))
    expect((await readVersion(test.db)).version).toBe(before.version + 20)
  })

  it('cleans hostile token metadata: length, control and bidirectional characters, HTML', async () => {
    const file = smallCatalogue()
    const token = file.tokens[0]
    if (!token) throw new Error('no token')
    token.symbol = `US\u0000D\u202eC<script>alert(1)</script>${'x'.repeat(10_000)}`
    token.name = ' <img src=x onerror=alert(1)>USD\n\tCoin\u200b <b '
    await loadFile(file)
    const [stored] = await test.db`select symbol, name from tokens where chain_id = 1 and address = ${token.address}`
    expect(stored).toEqual({ symbol: `USDCalert(1)${'x'.repeat(20)}`, name: 'USD Coin b' })
  })
})

describe('a file with mistakes', () => {
  it('is refused with the file, the line and the path of each', async () => {
    const text = [
      '{',
      '  "tokens": [',
      '    { "chainId": 1, "address": "0x1", "decimals": 6, "symbol": "A", "name": "A" },',
      '    { "chainId": 1, "decimals": 99, "symbol": "B",',
      '      "nmae": "B", "logoUrl": "javascript:alert(1)" }',
      '  ]',
      '}',
    ].join('\n')
    const { problems, message } = await problemsOf(text)
    expect(problems.map(({ line, path }) => `${line} ${path}`).sort()).toEqual(
      [
        '3 tokens[0].address',
        '4 tokens[1].address',
        '4 tokens[1].name',
        '4 tokens[1].decimals',
        '5 tokens[1].nmae',
        '5 tokens[1].logoUrl',
      ].sort(),
    )
    expect(message).toContain('demo.json:3: tokens[0].address: ')
    expect(message).toContain('demo.json:5: tokens[1].nmae: is not a member of the format')
  })

  it('names the line of a syntax error', async () => {
    expect((await problemsOf('{\n  "tokens": [\n    {,\n')).message).toBe(
      'demo.json:3: expected a member name, found ","',
    )
    expect((await problemsOf('{\n"a": 1,\n"a": 2\n}')).problems[0]).toMatchObject({ line: 3 })
  })

  it('names the line of a reference to nothing, a duplicate and a stolen slug', async () => {
    await loadFile(smallCatalogue())
    const { opportunities } = smallCatalogue()
    const [first, second] = opportunities
    const file = {
      opportunities: [
        { ...first, curator: 'nobody', tags: ['nope'], products: ['savings', 'savings'] },
        { ...second, id: '018f4d5e-0000-7000-8000-000000000001', depositTokens: [`0x${'9'.repeat(40)}`] },
      ],
      distributors: [{ id: 'walletco', organization: 'acme', opportunities: ['gone'] }],
    }
    const text = JSON.stringify(file, null, 1)
    const { problems } = await problemsOf(text)
    expect(problems.map(({ path }) => path).sort()).toEqual(
      [
        'distributors[0].opportunities[0]',
        'distributors[0].organization',
        'opportunities[0].curator',
        'opportunities[0].products[1]',
        'opportunities[0].tags[0]',
        'opportunities[1].depositTokens[0]',
        'opportunities[1].slug',
        'opportunities[1].vault',
      ].sort(),
    )
    const lines = text.split('\n')
    for (const { line, path } of problems) {
      const member = /([a-zA-Z]+)(\[\d+\])?$/.exec(path)?.[1] ?? ''
      if (!path.endsWith(']')) expect(lines[line - 1]).toContain(`"${member}"`)
    }
  })

  it('is refused where it misspells the kind of a vault, and told the kinds there are', async () => {
    const file = smallCatalogue()
    const [first] = file.opportunities
    const text = JSON.stringify({
      ...file,
      opportunities: [{ ...first, vault: { ...first?.vault, kind: 'erc-4626' } }],
    })
    expect((await problemsOf(text)).problems).toMatchObject([
      { path: 'opportunities[0].vault.kind', message: expect.stringMatching(/^must be one of erc4626, .*lagoon/) },
    ])
  })

  it('takes a vault of the kind other, which is listed, and which nothing can be deposited into or withdrawn from', async () => {
    const file = smallCatalogue()
    const [first] = file.opportunities
    await loadFile({ ...file, opportunities: [{ ...first, vault: { ...first?.vault, kind: 'other' } }] })
    const closed = { enabled: false, observed: false, reason: 'This vault is listed and watched only.' }
    expect(findOpportunity(await read(), slugId.opportunity('usdc-ethereum'))).toMatchObject({
      listed: true,
      capabilities: { deposit: closed, withdraw: closed },
    })
    await loadFile(smallCatalogue())
  })

  it('is refused where it names a contract beside a vault whose kind knows none', async () => {
    const file = smallCatalogue()
    const [first] = file.opportunities
    const vault = { ...first?.vault, contracts: { teller: `0x${'12'.repeat(20)}` } }
    await expect(loadFile({ ...file, opportunities: [{ ...first, vault }] })).rejects.toThrow(
      'opportunities[0].vault.contracts.teller: a vault of kind erc4626 has no contract of that name',
    )
  })

  it('is refused where it says of a side that it is asynchronous and the kind says otherwise', async () => {
    const file = smallCatalogue()
    const [first] = file.opportunities
    const load = (kind: string, flags: object) =>
      loadFile({ ...file, opportunities: [{ ...first, vault: { ...first?.vault, kind }, ...flags }] })
    await expect(load('erc4626', { asyncDeposit: true })).rejects.toThrow(
      'opportunities[0].asyncDeposit: is false of a vault of kind erc4626: leave it out, or correct the kind',
    )
    await expect(load('erc7540', { asyncWithdraw: false })).rejects.toThrow('opportunities[0].asyncWithdraw: is true')
    await load('erc7540-deposit', { asyncDeposit: true, asyncWithdraw: false })
    await load('lagoon', {})
    expect(findOpportunity(await read(), slugId.opportunity('usdc-ethereum'))).toMatchObject({
      asyncDeposit: true,
      asyncWithdraw: true,
    })
  })

  it('is refused in a sentence when an id belongs to something else', async () => {
    await loadFile(smallCatalogue())
    const { opportunities } = smallCatalogue()
    const [first, second] = opportunities
    const stolen = { id: slugId.incentive(slugId.opportunity(first?.slug ?? ''), 0), name: 'X', rewardType: 'points' }
    const { message } = await problemsOf(JSON.stringify({ opportunities: [{ ...second, incentives: [stolen] }] }))
    expect(message).toMatch(/^demo\.json:1: an id or slug of the file is in use/)
  })

  it('changes nothing, not even the version', async () => {
    await loadFile(smallCatalogue())
    const before = await readCatalogue(test.db)
    const file = smallCatalogue()
    const [opportunity] = file.opportunities
    await problemsOf(JSON.stringify({ ...file, opportunities: [{ ...opportunity, name: 'X', curator: 'nobody' }] }))
    expect(await readCatalogue(test.db)).toEqual(before)
  })
})
