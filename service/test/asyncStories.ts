import { asyncVaultAbi } from '@openearn/contracts'
import type { Address, PrivateKeyAccount } from 'viem'
import { openWorld, type World, type WorldVault } from './actionWorld.js'

/** A world with a token, a member who holds much of it, and the member's stories. */
export async function openStories(user: PrivateKeyAccount) {
  const world = await openWorld()
  await world.join(user.address)
  const token = await world.token({ pegUsd: '1' })
  await world.mint(token, user.address, 1_000_000_000_000n)
  return { world, token, story: tellStories(world, user) }
}

/** What a wallet and an asynchronous vault do, told through the operations. */
export function tellStories(world: World, user: PrivateKeyAccount) {
  const call = (operationId: string, vault: WorldVault, body: Record<string, unknown>) =>
    world.earn.call(operationId, {
      params: { opportunityId: vault.opportunityId },
      body: { userAddress: user.address, ...body },
    })
  const { distributorId } = world
  return {
    deposit: (vault: WorldVault, amount: bigint, changes: Record<string, unknown> = {}) =>
      call('CreateDepositInteraction', vault, {
        tokenIn: vault.asset,
        amount: String(amount),
        distributorId,
        ...changes,
      }),
    withdraw: (vault: WorldVault, shares: bigint, changes: Record<string, unknown> = {}) =>
      call('CreateWithdrawInteraction', vault, { amount: String(shares), distributorId, ...changes }),
    claim: (vault: WorldVault, changes: Record<string, unknown> = {}) =>
      call('CreateClaimDepositInteraction', vault, changes),
    cancel: (vault: WorldVault, changes: Record<string, unknown> = {}) =>
      call('CreateCancelDepositInteraction', vault, changes),
    /** The vault settles a request, as its owner would. */
    settle: (vault: WorldVault, functionName: string, id = 0n, controller: Address = user.address) =>
      world.write(vault.address, settleAbi, functionName, [controller, id]),
    entries: async (vault: WorldVault) => {
      await world.sync()
      const query = { opportunityId: vault.opportunityId, sortOrder: 'asc', limit: 100 }
      return (await world.earn.call('ListInteractions', { query })).body.data
    },
  }
}

const settleAbi = [
  ...asyncVaultAbi,
  {
    type: 'function',
    name: 'settleCancelDeposit',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'controller', type: 'address' },
      { name: 'requestId', type: 'uint256' },
    ],
    outputs: [],
  },
] as const
