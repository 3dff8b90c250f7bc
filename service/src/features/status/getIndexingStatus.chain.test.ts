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
    expect(body.vaults[0]).toMatchObject({ state: 'live', reason: null, drift: { checkedAt: null, samples: 0 } })
    expect(body.attributionSigners).toEqual([{ address: signer.address, from: '1970-01-01T00:00:00Z', to: null }])
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
