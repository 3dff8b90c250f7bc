import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOf, smallCatalogue } from '../../../test/catalogueFile.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { importCatalogue } from './import/importCatalogue.js'
import { recordSigner } from './storeSigners.js'

/** Known to everyone. */
const test = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const [former, present] = [addressOf(71), addressOf(72)]
let earn: Earn

beforeAll(async () => {
  earn = await openEarn()
  const file = smallCatalogue()
  const [ethereum, base] = file.chains
  const swap = {
    uniswapV2: { factory: addressOf(11), router: addressOf(12) },
    uniswapV3: {
      ...{ factory: addressOf(13), quoter: addressOf(14), router: addressOf(15) },
      routerKind: 'swap-router-02' as const,
    },
    wrappers: [
      { address: addressOf(16), asset: addressOf(1) },
      { address: addressOf(16), asset: addressOf(2) },
    ],
    orders: { settlement: addressOf(17), relayer: addressOf(18), authenticator: addressOf(21) },
  }
  const facts = { depositRouter: addressOf(19), wrappedNative: addressOf(2), streamFactory: addressOf(20) }
  const chains = [{ ...ethereum!, ...facts, swap, transactionGasCap: 16_000_000 }, base!]
  await importCatalogue(earn.ctx, JSON.stringify({ ...file, chains }))
  for (const [at, address] of [test, former, present].entries())
    await recordSigner(earn.db, address, new Date(`2026-0${at + 1}-01T00:00:00Z`))
  await earn.ctx.catalogue.refresh()
})
afterAll(() => earn?.close())

const get = (chainId: number | string, etag?: unknown) =>
  earn.call('GetVerificationContext', {
    query: { chainId },
    ...(etag ? { headers: { 'if-none-match': String(etag) } } : {}),
  })
const shown = (number: number) => getAddress(addressOf(number))

describe('200', () => {
  it('says what plans of a chain call, and who signs them', async () => {
    const { body } = await get(1)
    const [{ opportunityId, ...vault }] = body.vaults
    expect((await earn.call('GetOpportunity', { params: { id: opportunityId } })).body.vaultAddress).toBe(shown(3))
    expect({ ...body, vaults: [vault] }).toEqual({
      chainId: 1,
      vaults: [{ address: shown(3), asset: shown(1), share: shown(3), kind: 'erc4626', contracts: [] }],
      routers: [
        { address: shown(12), kind: 'uniswap-v2' },
        { address: shown(15), kind: 'swap-router-02' },
        { address: shown(19), kind: 'deposit-router' },
      ],
      wrappers: [shown(16)],
      depositRouter: shown(19),
      wrappedNative: shown(2),
      quoter: shown(14),
      settlement: shown(17),
      relayer: shown(18),
      streamFactory: shown(20),
      signers: [getAddress(present)],
      gasCap: '16000000',
    })
  })

  it('says null and nothing of a chain that has nothing of it', async () => {
    expect((await get(8453)).body).toMatchObject({
      ...{ routers: [], wrappers: [], depositRouter: null, wrappedNative: null, quoter: null },
      ...{ settlement: null, relayer: null, streamFactory: null, gasCap: null },
    })
  })

  it('keeps a vault that is no longer offered: its holders withdraw', async () => {
    await earn.db`update opportunities set active = false where chain_id = 8453`
    await earn.ctx.catalogue.refresh()
    expect((await get(8453)).body.vaults).toHaveLength(1)
  })

  it('names the further contracts of a vault in the order of their names', async () => {
    const contracts = { queue: addressOf(32), desk: addressOf(31) }
    await earn.db`update vaults set contracts = ${JSON.stringify(contracts)}::jsonb where chain_id = 8453`
    await earn.ctx.catalogue.refresh()
    expect((await get(8453)).body.vaults[0].contracts).toEqual([shown(31), shown(32)])
  })

  it('has an ETag, which another key changes', async () => {
    const { etag } = (await get(1)).headers
    expect((await get(1, etag)).status).toBe(304)
    await recordSigner(earn.db, addressOf(73), new Date('2026-05-01T00:00:00Z'))
    await earn.ctx.catalogue.refresh()
    const next = await get(1, etag)
    expect([next.status, next.body.signers]).toEqual([200, [shown(73)]])
  })

  it('names a public test key on the devnet alone', async () => {
    await earn.db`insert into chains (chain_id, name, slug) values (31337, 'Devnet', 'devnet')`
    await recordSigner(earn.db, test, new Date('2026-06-01T00:00:00Z'))
    await earn.ctx.catalogue.refresh()
    expect((await get(31_337)).body.signers).toEqual([getAddress(test)])
    expect((await get(1)).body.signers).toEqual([])
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each(['x', 0, '', 77])('refuses the chain %j', async (chainId) => {
    expect(await get(chainId)).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
  })
})
