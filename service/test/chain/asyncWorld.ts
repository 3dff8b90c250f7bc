import { asyncVaultAbi, asyncVaultBytecode } from '@openearn/contracts'
import type { Abi } from 'viem'
import { account } from '../../../contracts/test/anvil.js'
import { openEarn } from '../harness.js'
import { chainId, openWatchWorld } from './watchWorld.js'

export type AsyncWorld = Awaited<ReturnType<typeof openAsyncWorld>>

/** The service over a watched chain with a plain vault, in which account 1 has a deposit, and an asynchronous one. */
export async function openAsyncWorld() {
  const earn = await openEarn()
  const world = await openWatchWorld(earn.db, earn.organizationId)
  ;(earn.ctx.chains as Map<number, typeof world.chain>).set(chainId, world.chain)
  const settings = { asyncDeposit: true, asyncRedeem: true, separateIds: false, decimalsOffset: 0 }
  const args = [world.token, 'Async', 'aUSD', settings]
  const asyncVault = await world.anvil.deploy({ abi: asyncVaultAbi as Abi, bytecode: asyncVaultBytecode, args })
  const asyncId = await world.list(asyncVault, { kind: 'erc7540' })
  const alice = account(1)
  await world.fund(alice, 1_000_000n)
  await world.fund(alice, 1_000_000n, asyncVault)
  await world.deposit(alice, 1_000n, 'Y2Zi7KWy')
  await world.sync()
  const close = async () => {
    await world.close()
    await earn.close()
  }
  return { earn, world, asyncVault, asyncId, alice, close }
}
