import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { combineAll, mapRead, type Read } from '../../../rpc/multicall.js'
import { findToken } from '../../catalogue/index.js'
import { type CommittedReward, listCommittedRewards } from '../../streams/index.js'
import { type Adapter, type AdapterInput, type Item, parseWord } from '../adapter.js'

const protocol = { id: 'openearn-streams', name: 'Reward streams', siteUrl: '', logoUrl: '' }

const streamAbi = parseAbi(['function getClaimedRewards(address user) view returns (uint256)'])

/**
 * Committed and unclaimed rewards of streams: the wallet's amount in the newest claimable root, less its claims up to the block.
 * Rewards that accrued after the root do not belong to the wallet yet and do not count.
 */
export const streamsAdapter: Adapter = {
  name: 'streams',
  ask: async (input) => {
    const { ctx, chain, wallet } = input
    const all = await input.once('rewards', () => listCommittedRewards(ctx.db, wallet))
    const own = all.filter(({ chainId }) => chainId === chain.chainId)
    return mapRead(combineAll(own.map((reward) => askClaimed(reward, wallet))), (claimed) => ({
      items: own.flatMap((reward, at) => toItem(input, reward, claimed[at])),
      problems: own.flatMap((reward, at) => describeProblem(input, reward, claimed[at])),
    }))
  },
}

function askClaimed({ contract }: CommittedReward, wallet: Address): Read<bigint | undefined> {
  const data = encodeFunctionData({ abi: streamAbi, functionName: 'getClaimedRewards', args: [wallet] })
  return { reads: [{ target: contract as Address, data }], answer: ([result]) => parseWord(result) }
}

/** Why a reward has no row: how many digits the unit of a token has is known of the catalogue's alone. */
function describeProblem({ snapshot }: AdapterInput, reward: CommittedReward, claimed: bigint | undefined): string[] {
  const { chainId, contract, rewardToken } = reward
  if (claimed === undefined) return [`the stream ${contract} does not answer what was claimed`]
  const raw = leftOf(reward, claimed)
  if (raw === 0n || findToken(snapshot, chainId, rewardToken)) return []
  return [`the stream ${contract} owes ${raw} smallest units of ${rewardToken}, a token the catalogue does not have`]
}

function leftOf({ amount }: CommittedReward, claimed: bigint | undefined): bigint {
  return claimed === undefined || claimed >= amount ? 0n : amount - claimed
}

function toItem({ snapshot }: AdapterInput, reward: CommittedReward, claimed: bigint | undefined): Item[] {
  const raw = leftOf(reward, claimed)
  const token = findToken(snapshot, reward.chainId, reward.rewardToken)
  if (raw === 0n || !token) return []
  const { address, symbol, name, decimals, logoUrl } = token
  // A pause delays the claim and changes nothing of what is owed.
  const description = reward.claimPaused ? 'Committed, claims are paused' : 'Committed, can be claimed'
  const target = findToken(snapshot, reward.targetChainId, reward.targetToken)
  return [
    {
      ...{ protocol, name: `Rewards of ${target?.symbol || 'a stream'}`, type: 'reward', opportunityId: null },
      ...{ pool: reward.contract, description, supplied: [], borrowed: [] },
      rewards: [{ token: { address, symbol, name, decimals, logoUrl }, raw }],
    },
  ]
}
