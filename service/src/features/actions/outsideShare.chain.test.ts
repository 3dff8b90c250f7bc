import { outsideShareVaultAbi, outsideShareVaultBytecode } from '@openearn/contracts'
import { type Address, decodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { World, WorldVault } from '../../../test/actionWorld.js'
import { openStories, type tellStories } from '../../../test/asyncStories.js'
import { refused } from '../../../test/refused.js'
import { probeVault } from '../../probing/index.js'

const user = account(1)
/** A price that no number of assets divides. */
const price = 1_030_000_000_000_000_007n
const requested = 1_000_000_000n
let world: World
let token: Address
let story: ReturnType<typeof tellStories>
let vault: WorldVault
let share: Address

beforeAll(async () => {
  ;({ world, token, story } = await openStories(user))
  const args = [token, 'Outside', 'oTUSD']
  const abi = outsideShareVaultAbi
  const address = await world.anvil.deploy({ abi, bytecode: outsideShareVaultBytecode, args })
  share = (await world.anvil.client.readContract({ address, abi, functionName: 'share' })) as Address
  vault = await world.list({ address, asset: token, decimals: 6, kind: 'erc7540', receiptToken: share })
})
afterAll(() => world.close())

const settle = (name: string, ...more: bigint[]) =>
  world.write(vault.address, outsideShareVaultAbi, name, [user.address, ...more])
const shares = () => world.balance(share, user.address)
const assets = () => world.balance(token, user.address)
const requestsOf = async () => {
  await world.sync()
  const { body } = await world.earn.call('GetWalletRequests', { params: { address: user.address } })
  return body.requests.map(({ kind, state, claimable }: Record<string, string>) => [kind, state, claimable])
}

describe('an ERC-7540 vault whose share is another token and is pulled by allowance', () => {
  it('is told by the probe, entered, claimed in shares without a rest, and left with exactly the shares approved', async () => {
    const probed = await probeVault(world.earn.ctx.chains.get(world.chainId)!, vault.address)
    expect(probed).toMatchObject({ kind: 'erc7540', receiptToken: { address: share } })

    await world.send(await story.deposit(vault, requested), user)
    await settle('settleDeposit', price)
    const claim = await story.claim(vault)
    const most = await world.anvil.client.readContract({
      address: vault.address,
      abi: outsideShareVaultAbi,
      functionName: 'maxMint',
      args: [user.address],
    })
    const { data } = claim.body.transactions[0].transaction
    expect(decodeFunctionData({ abi: outsideShareVaultAbi, data })).toEqual({
      functionName: 'mint',
      args: [most, user.address, user.address],
    })
    await world.send(claim, user)
    expect(await shares()).toBe(most)
    expect(await requestsOf()).toEqual([['deposit', 'claimed', '0']])
    refused(await story.claim(vault), 'NOTHING_PENDING')

    const part = most / 3n
    const plan = await story.withdraw(vault, part)
    const [approval, request] = plan.body.transactions
    expect([approval.type, request.type]).toEqual(['approve', 'withdraw'])
    expect(decodeFunctionData({ abi: erc20Abi, data: approval.transaction.data })).toEqual({
      functionName: 'approve',
      args: [vault.address, part],
    })
    await world.send(plan, user)
    expect(
      await world.anvil.client.readContract({
        address: share,
        abi: erc20Abi,
        functionName: 'allowance',
        args: [user.address, vault.address],
      }),
    ).toBe(0n)
    // Without a simulation nothing tells that the vault wants an approval.
    expect((await story.withdraw(vault, part, { simulate: false })).body.transactions).toHaveLength(1)
    await settle('settleRedeem', price)
    const before = await assets()
    await world.send(await story.withdraw(vault, await readMaxRedeem()), user)
    const paid = (await assets()) - before
    expect(await story.entries(vault)).toMatchObject([
      { interaction: 'deposit', amountRaw: String(requested) },
      { interaction: 'withdraw', amountRaw: String(paid) },
    ])
    refused(await story.withdraw(vault, most), 'INSUFFICIENT_BALANCE')
  })

  it('cancels a pending deposit in two steps, and is cancelled by its id', async () => {
    await world.send(await story.deposit(vault, requested), user)
    const before = await assets()
    await world.send(await story.cancel(vault, { requestId: '0' }), user)
    refused(await story.cancel(vault), 'NOT_CLAIMABLE', true)
    refused(await story.deposit(vault, requested), 'SIMULATION_REVERTED')
    await settle('settleCancelDeposit')
    await world.send(await story.cancel(vault), user)
    expect((await assets()) - before).toBe(requested)
    expect((await requestsOf()).at(-1)).toEqual(['deposit', 'cancelled', '0'])
  })
})

function readMaxRedeem() {
  const read = { address: vault.address, abi: outsideShareVaultAbi, functionName: 'maxRedeem' } as const
  return world.anvil.client.readContract({ ...read, args: [user.address] })
}
