import { asyncVaultAbi, asyncVaultBytecode } from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { chainId, openWatchWorld, signer, type WatchWorld } from '../../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { reconcileBalances } from './index.js'

let earn: Earn
let world: WatchWorld
let asyncVault: Address
let asyncId: string
const [owner, alice] = [account(0), account(1)]

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  ;(earn.ctx.chains as Map<number, typeof world.chain>).set(chainId, world.chain)
  const settings = { asyncDeposit: true, asyncRedeem: true, separateIds: false, decimalsOffset: 0 }
  const args = [world.token, 'Async', 'aUSD', settings]
  asyncVault = await world.anvil.deploy({ abi: asyncVaultAbi as Abi, bytecode: asyncVaultBytecode, args })
  asyncId = await world.list(asyncVault, { kind: 'erc7540' })
  await world.fund(alice, 1_000_000n)
  await world.fund(alice, 1_000_000n, asyncVault)
  await world.deposit(alice, 1_000n, 'Y2Zi7KWy')
  await world.sync()
})
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

const status = (query = {}) => earn.call('GetIndexingStatus', { query })
const call = (user: typeof alice, functionName: string, args: readonly unknown[]) =>
  world.send(user, asyncVault, encodeFunctionData({ abi: asyncVaultAbi as Abi, functionName, args }))

describe('GetIndexingStatus 200', () => {
  it('shows where chains and vaults stand, and who signs', async () => {
    earn.clock.set(new Date())
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

  it('calls a chain whose watcher has fallen silent stalled', async () => {
    earn.clock.set(new Date(Date.now() + 61_000))
    expect((await status()).body.chains[0]).toMatchObject({ state: 'stalled' })
    earn.clock.set(new Date())
  })

  it('reports drift when a balance is not what the chain says', async () => {
    await reconcileBalances(earn.ctx)
    const drift = async () => (await status({ vaultAddress: world.vault })).body.vaults[0].drift
    expect(await drift()).toMatchObject({ samples: 1, mismatches: 0 })
    await earn.db`update balances set shares = shares + 1 where wallet = ${alice.address.toLowerCase()}`
    await reconcileBalances(earn.ctx)
    expect(await drift()).toMatchObject({ samples: 1, mismatches: 1 })
    await earn.db`update balances set shares = shares - 1 where wallet = ${alice.address.toLowerCase()}`
  })
})

describe('GetIndexingStatus 400 INVALID_ARGUMENT', () => {
  it('refuses a malformed chain or vault', async () => {
    expect(await status({ chainId: 0 })).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
    expect(await status({ vaultAddress: '0x1' })).toMatchObject({ status: 400 })
  })
})

const requests = async (address: string = alice.address) => {
  await world.sync()
  return earn.call('GetWalletRequests', { params: { address } })
}

describe('GetWalletRequests 200', () => {
  it('follows a deposit from pending to claimable to claimed', async () => {
    const txHash = await call(alice, 'requestDeposit', [500n, alice.address, alice.address])
    const [pending] = (await requests()).body.requests
    expect(pending).toMatchObject({ opportunityId: asyncId, kind: 'deposit', requestId: '0', state: 'pending', txHash })
    expect(pending).toMatchObject({ assets: '500', shares: null, claimable: '0', distributorId: null })
    await call(owner, 'settleDeposit', [alice.address, 0n])
    await call(alice, 'requestDeposit', [70n, alice.address, alice.address])
    const open = (await requests(alice.address.toUpperCase().replace('0X', '0x'))).body.requests
    expect(open).toMatchObject([
      { state: 'claimable', claimable: '500' },
      { state: 'pending', claimable: '0', assets: '70' },
    ])
    await call(alice, 'deposit', [500n, alice.address, alice.address])
    await call(alice, 'requestRedeem', [100n, alice.address, alice.address])
    const later = (await requests()).body.requests
    expect(later).toMatchObject([
      { state: 'claimed' },
      { state: 'pending' },
      { kind: 'redeem', shares: '100', assets: null },
    ])
  })

  it('is empty for a wallet without requests', async () => {
    expect((await requests(owner.address)).body).toEqual({ requests: [] })
  })
})

describe('GetWalletRequests 400 INVALID_ARGUMENT', () => {
  it('refuses a malformed address', async () => {
    expect(await requests('0x12')).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
  })
})

describe('GetWalletRequests 503 UNAVAILABLE', () => {
  it('says so when the chain of an open request cannot be read', async () => {
    ;(earn.ctx.chains as Map<number, typeof world.chain>).delete(chainId)
    const answer = await requests()
    expect(answer).toMatchObject({ status: 503, body: { status: 'UNAVAILABLE' } })
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  })
})
