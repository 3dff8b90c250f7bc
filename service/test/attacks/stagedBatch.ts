import { batchAccountAbi, batchAccountBytecode, restartingVaultAbi, testTokenAbi } from '@openearn/contracts'
import { type Abi, type Address, encodeAbiParameters, encodeFunctionData, type Hex } from 'viem'
import { withSuffix } from '../chain/watchWorld.js'
import { cheat, depositData, type StagedWorld } from './stagedWorld.js'

/** What the cheat does in one transaction of his account, which runs batches (EIP-7702, ERC-7821). */

export type Step = { to: Address; data: Hex }

const batchMode = `0x01${'0'.repeat(62)}` as const
const gas = 25_000_000n

export const stepsOf = (token: Address) => ({
  deposit: (vault: Address, amount: bigint, distributorId?: string): Step => ({
    to: vault,
    data: withSuffix(depositData(amount), cheat.address, vault, distributorId),
  }),
  redeem: (vault: Address, shares: bigint): Step => ({
    to: vault,
    data: encodeFunctionData({
      ...{ abi: restartingVaultAbi, functionName: 'redeem', args: [shares, cheat.address, cheat.address] },
    }),
  }),
  donate: (vault: Address, amount: bigint): Step => ({
    to: token,
    data: encodeFunctionData({ abi: testTokenAbi, functionName: 'transfer', args: [vault, amount] }),
  }),
})

/** Lets the cheat's account run batches; answers with what runs one. */
export async function openBatches({ world }: StagedWorld): Promise<(steps: readonly Step[]) => Promise<void>> {
  const { client, deploy, done } = world.anvil
  const code = await deploy({ abi: batchAccountAbi as Abi, bytecode: batchAccountBytecode, args: [] })
  const nonce = await client.getTransactionCount({ address: cheat.address })
  const authorization = await cheat.signAuthorization({ address: code, chainId: 31_337, nonce: nonce + 1 })
  const own = { account: cheat, to: cheat.address, gas }
  await done(client.sendTransaction({ ...own, authorizationList: [authorization] }))
  return async (steps) => {
    const calls = steps.map(({ to, data }) => ({ to, value: 0n, data }))
    const list = encodeAbiParameters(
      [
        {
          type: 'tuple[]',
          components: [
            { name: 'to', type: 'address' },
            { name: 'value', type: 'uint256' },
            { name: 'data', type: 'bytes' },
          ],
        },
      ],
      [calls],
    )
    const data = encodeFunctionData({ abi: batchAccountAbi, functionName: 'execute', args: [batchMode, list] })
    await done(client.sendTransaction({ ...own, data }))
  }
}
