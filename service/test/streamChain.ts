import {
  streamAbi,
  streamFactoryAbi,
  streamFactoryBytecode,
  testTokenAbi,
  testTokenBytecode,
} from '@openearn/contracts'
import type { Address, Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { account } from '../../contracts/test/anvil.js'
import { waitForOutcome } from '../src/cli/dev/receipt.js'
import { tokenId } from '../src/features/streams/tokens.js'
import type { Config } from '../src/kernel/config.js'
import { listToken, openWorld } from './actionWorld.js'
import type { Answer } from './harness.js'
import { incentivize, streamsKey } from './streamWorld.js'

export const [committer, collector, pauser, admin] = [2, 3, 4, 5].map(account) as [
  ReturnType<typeof account>,
  ReturnType<typeof account>,
  ReturnType<typeof account>,
  ReturnType<typeof account>,
]

export type StreamChain = Awaited<ReturnType<typeof openStreamChain>>

/** The service over a real chain with a factory of streams, a token they may pay, and a vault whose shares may earn. */
export async function openStreamChain(options: { config?: Partial<Config> } = {}) {
  const settings = { name: 'STREAMS', key: streamsKey, keyFile: undefined, remote: undefined }
  const world = await openWorld({ config: { streamsKey: settings, ...options.config } })
  const { anvil, earn, chainId } = world
  const verifier = privateKeyToAddress(streamsKey)
  const roles = [verifier, verifier, committer.address, collector.address, pauser.address]
  const factory = await anvil.deploy({
    ...{ abi: streamFactoryAbi, bytecode: streamFactoryBytecode, args: [world.owner.address, roles] },
  })
  const reward = await anvil.deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Reward', 'RWD', 18] })
  await listToken(earn, { address: reward, decimals: 18, symbol: 'RWD' })
  await earn.db`update chains set stream_factory = ${factory.toLowerCase()} where chain_id = ${chainId}`
  await earn.db`update tokens set is_allowed_reward_token = true where address = ${reward.toLowerCase()}`
  const asset = await world.token({ pegUsd: '1' })
  const vault = await world.vault(asset)
  await world.sync()
  const secret = await earn.key({ kind: 'secret', permissions: [incentivize], hourlyUnits: 1e9 })
  const idOf = (address: Address) => tokenId({ chainId, address })
  const terms = (over: Record<string, unknown> = {}) => ({
    ...{ type: 1, startTimestamp: '2026-11-20T12:00:00Z', endTimestamp: '2026-12-20T12:00:00Z' },
    ...{ totalAmount: '1000000', rewardTokenId: idOf(reward), walletAddress: admin.address },
    customArgs: { targetTokenId: idOf(vault.address), tokensPerUSD: '1000' },
    ...over,
  })
  const create = (over: Record<string, unknown> = {}, key = secret): Promise<Answer> =>
    earn.call('CreateStream', { body: terms(over), key })
  /** Sends what was signed, as its admin would. */
  const send = async ({ to, data }: { to: Address; data: Hex }, as = admin) => {
    const hash = await anvil.client.sendTransaction({ account: as, to, data, gas: 2_000_000n })
    return waitForOutcome(anvil.client, hash)
  }
  const fund = async (amount: bigint) => {
    await world.write(reward, testTokenAbi, 'mint', [admin.address, amount])
    await world.write(reward, testTokenAbi, 'approve', [factory, amount], admin)
  }
  return {
    ...{ world, earn, anvil, chainId, factory, reward, asset, vault, secret, idOf, terms, create, send, fund },
    /** A stream whose creation was signed, funded with its fee, sent and confirmed; answers its id and contract. */
    stream: async (over: Record<string, unknown> = {}) => {
      const { body } = await create(over)
      await fund(BigInt(body.stream.totalAmount) + BigInt(body.feeAmount))
      const receipt = await send(body.txParams)
      if (receipt.status !== 'success') throw new Error('the creation reverted')
      await world.sync()
      return { id: body.stream.id as string, contract: body.stream.contractAddress as Address }
    },
    read: (contract: Address, functionName: 'getTotalFunded' | 'getTotalAllocated' | 'getTotalClaimed' | 'getAdmin') =>
      anvil.client.readContract({ address: contract, abi: streamAbi, functionName }),
    close: () => world.close(),
  }
}
