import { asyncVaultAbi } from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { type AsyncWorld, openAsyncWorld } from '../../../test/chain/asyncWorld.js'
import { chainId } from '../../../test/chain/watchWorld.js'

let opened: AsyncWorld
let earn: AsyncWorld['earn']
let world: AsyncWorld['world']
let asyncVault: Address
let asyncId: string
let alice: AsyncWorld['alice']
const owner = account(0)

beforeAll(async () => {
  opened = await openAsyncWorld()
  ;({ earn, world, asyncVault, asyncId, alice } = opened)
})
afterAll(() => opened?.close())

const call = (user: typeof alice, functionName: string, args: readonly unknown[]) =>
  world.send(user, asyncVault, encodeFunctionData({ abi: asyncVaultAbi as Abi, functionName, args }))

const balanceOfToken = (holder: Address) =>
  world.anvil.client.readContract({ address: world.token, abi: erc20Abi, functionName: 'balanceOf', args: [holder] })

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

  it('tells what a request gave once all of it is claimed: shares of a deposit, assets of a redemption', async () => {
    const bob = account(2)
    await world.fund(bob, 1_000_000n, asyncVault)
    const shown = async () =>
      (await requests(bob.address)).body.requests.map(({ state, assets, shares }: Record<string, string | null>) => [
        state,
        assets,
        shares,
      ])
    for (const assets of [7n, 5n]) await call(bob, 'requestDeposit', [assets, bob.address, bob.address])
    await call(owner, 'settleDeposit', [bob.address, 0n])
    await call(bob, 'deposit', [3n, bob.address, bob.address])
    expect(await shown()).toEqual([
      ['claimable', '7', null],
      ['claimable', '5', null],
    ])
    await call(bob, 'deposit', [9n, bob.address, bob.address])
    const [first, second] = await shown()
    const held = await world.anvil.client.readContract({
      ...{ address: asyncVault, abi: asyncVaultAbi, functionName: 'balanceOf', args: [bob.address] },
    })
    expect([first[0], second[0]]).toEqual(['claimed', 'claimed'])
    // Both together are what the wallet got, to the unit.
    expect(BigInt(first[2]) + BigInt(second[2])).toBe(held)
    await call(bob, 'requestRedeem', [4n, bob.address, bob.address])
    await call(owner, 'settleRedeem', [bob.address, 0n])
    const before = await balanceOfToken(bob.address)
    await call(bob, 'redeem', [4n, bob.address, bob.address])
    expect((await shown())[2]).toEqual(['claimed', String((await balanceOfToken(bob.address)) - before), '4'])
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
