import { asyncVaultAbi, asyncVaultBytecode } from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { chainId, openWatchWorld, type WatchWorld } from '../../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../../test/harness.js'

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

const call = (user: typeof alice, functionName: string, args: readonly unknown[]) =>
  world.send(user, asyncVault, encodeFunctionData({ abi: asyncVaultAbi as Abi, functionName, args }))

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
