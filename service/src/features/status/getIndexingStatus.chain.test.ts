import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { present } from '../../../../contracts/test/present.js'
import { type AsyncWorld, openAsyncWorld } from '../../../test/chain/asyncWorld.js'
import { chainId, signer } from '../../../test/chain/watchWorld.js'
import { reconcileBalances } from './reconcile.js'

let opened: AsyncWorld
let earn: AsyncWorld['earn']
let world: AsyncWorld['world']
let asyncVault: Address
let asyncId: string
let alice: AsyncWorld['alice']

beforeAll(async () => {
  opened = await openAsyncWorld()
  ;({ earn, world, asyncVault, asyncId, alice } = opened)
})
afterAll(() => opened?.close())

const status = (query = {}) => earn.call('GetIndexingStatus', { query })
describe('GetIndexingStatus 200', () => {
  it('shows where chains and vaults stand, and who signs', async () => {
    earn.clock.set(present())
    const head = Number(await world.anvil.client.getBlockNumber())
    const { body } = await status()
    expect(body.chains).toMatchObject([
      {
        chainId,
        name: 'Devnet',
        headBlock: head,
        indexedBlock: head,
        lagBlocks: 0,
        lagSeconds: 0,
        state: 'live',
        reorgs24h: 0,
      },
    ])
    expect(body.vaults).toHaveLength(2)
    expect(body.vaults[0]).toMatchObject({ state: 'live', drift: { checkedAt: null, samples: 0 } })
    expect(body.attributionSigners).toEqual([{ address: signer.address, from: '1970-01-01T00:00:00Z', to: null }])
  })

  it('says of a live vault why its share prices are withheld and that its asset has no price, how many moves were cut, and nothing when all is well', async () => {
    const [vault] = await earn.db<{ id: number; asset: string }[]>`
      select id, asset from vaults where address = ${asyncVault.toLowerCase()}`
    if (!vault) throw new Error('no such vault')
    const { id, asset } = vault
    const withhold = (why: string | null) =>
      earn.db`update price_observations set withheld = ${why} where address = ${asset.toLowerCase()}`
    await withhold('suspect')
    const reasonOf = async () => (await status({ vaultAddress: asyncVault })).body.vaults[0].reason
    expect(await reasonOf()).toBe(
      'no snapshot of this vault was taken yet; its asset has no price, so it shows no US dollars',
    )
    await earn.db`
      insert into vault_snapshots (vault_id, block_number, block_timestamp, price_exponent, total_assets, total_supply,
        price_numerator, block_hash)
      values (${id}, 1, ${earn.clock.now()}, 18, 1, 999, 1, decode(repeat('00', 32), 'hex'))`
    await withhold(null)
    expect(await reasonOf()).toBe('the vault is as good as empty, so its share price means nothing')
    await earn.db`update vault_snapshots set total_supply = 1000 where vault_id = ${id}`
    expect(await reasonOf()).toBeNull()
    for (const wallet of ['01', '02'])
      await earn.db`
        insert into cut_moves (chain_id, block_number, vault_id, transaction_index, wallet, amount)
        values (${chainId}, 1, ${id}, 0, hex_bytes(${`0x${wallet.repeat(20)}`}), 5)`
    expect(await reasonOf()).toMatch(
      /^2 moves of shares were more than the wallet's known balance .*: the share rebases, or `startBlock` /,
    )
    await earn.db`update vaults set kind = 'other' where id = ${id}`
    expect(await reasonOf()).toMatch(/^no reader for this kind of vault; 2 moves of shares were more than /)
    await earn.db`update vaults set kind = 'erc7540' where id = ${id}`
    await earn.db`delete from cut_moves`
    await earn.db`insert into vault_pauses (vault_id, paused_from) values (${id}, ${earn.clock.now()})`
    expect(await reasonOf()).toBe('the operator has paused the series of this vault')
    await earn.db`update vaults set growth_sources = '[]' where id = ${id}`
    expect(await reasonOf()).toBe('nothing measures the growth of this vault in the range asked for')
    await earn.db`update vaults set growth_sources = null where id = ${id}`
    await earn.db`delete from vault_pauses`
    await earn.db`delete from vault_snapshots`
  })

  it('narrows to a chain and to a vault in any case', async () => {
    const one = (await status({ vaultAddress: asyncVault.toUpperCase().replace('0X', '0x') })).body
    expect(one.vaults).toMatchObject([{ vaultAddress: asyncVault, opportunityId: asyncId }])
    expect((await status({ chainId: 5 })).body).toMatchObject({ chains: [], vaults: [] })
  })

  it('does not promise a vault of a chain that is only listed', async () => {
    await earn.db`insert into chains (chain_id, name, slug, watched) values (7, 'Listed', 'listed', false)`
    const address = `0x${'77'.repeat(20)}`
    await earn.db`insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (7, ${address}, 'erc4626', ${address}, 6, ${address}, 6)`
    expect((await status({ chainId: 7 })).body).toMatchObject({
      chains: [],
      vaults: [{ state: 'not-started', reason: 'its chain is not watched by this service', retryAfterSeconds: null }],
    })
    await earn.db`delete from vaults where chain_id = 7`
    await earn.db`delete from chains where chain_id = 7`
  })

  it('calls a chain whose watcher has fallen silent stalled', async () => {
    earn.clock.set(new Date(present().getTime() + 61_000))
    expect((await status()).body.chains[0]).toMatchObject({ state: 'stalled', lagBlocks: 0 })
    expect((await status()).body.chains[0].lagSeconds).toBeGreaterThan(0)
    earn.clock.set(present())
  })

  it('reports drift when a balance is not what the chain says', async () => {
    await reconcileBalances(earn.ctx)
    const drift = async () => (await status({ vaultAddress: world.vault })).body.vaults[0].drift
    // One holder, and one or two ranges of blocks.
    expect(await drift()).toMatchObject({ samples: expect.any(Number), mismatches: 0 })
    expect((await drift()).samples).toBeGreaterThan(1)
    await earn.db`update balances set shares = shares + 1 where wallet = hex_bytes(${alice.address})`
    await reconcileBalances(earn.ctx)
    expect(await drift()).toMatchObject({ mismatches: 1 })
    await earn.db`update balances set shares = shares - 1 where wallet = hex_bytes(${alice.address})`
  })
})

describe('GetIndexingStatus 400 INVALID_ARGUMENT', () => {
  it('refuses a malformed chain or vault', async () => {
    expect(await status({ chainId: 0 })).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
    expect(await status({ vaultAddress: '0x1' })).toMatchObject({ status: 400 })
  })
})
