import { addressIn, type HolderKind, numberIn, ownBalance, told } from './holder.js'

/**
 * A staking contract with events for each account: `Staked` and `Withdrawn`, as StakingRewards of Synthetix and its many copies
 * emit them after the share has moved.
 */
export const staking: HolderKind = {
  name: 'staking',
  views: ownBalance,
  events: new Map([
    told('Staked(address,uint256)', { topics: 2, words: 1 }, (log) => ({
      ...{ kind: 'in', account: addressIn(log, 1), shares: numberIn(log, 0) },
    })),
    told('Withdrawn(address,uint256)', { topics: 2, words: 1 }, (log) => ({
      ...{ kind: 'out', account: addressIn(log, 1), shares: numberIn(log, 0) },
    })),
  ]),
}
