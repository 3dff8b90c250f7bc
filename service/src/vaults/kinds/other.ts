import { type Address, erc4626Abi, parseAbi } from 'viem'
import { combine, mapRead, type Read, readContract } from '../../rpc/multicall.js'
import type { Recognised, VaultKind } from '../kind.js'
import { erc4626Calls, erc4626Emits } from './erc4626.js'

const knownAbi = parseAbi([
  'function baseToken() view returns (address)',
  'function getUtilization() view returns (uint256)',
  'function UNDERLYING_ASSET_ADDRESS() view returns (address)',
  'function scaledTotalSupply() view returns (uint256)',
  'function getPooledEthByShares(uint256 shares) view returns (uint256)',
  'function getTotalShares() view returns (uint256)',
  'function STAKED_TOKEN() view returns (address)',
  'function getCooldownSeconds() view returns (uint256)',
  'function getExchangeRate() view returns (uint216)',
])

/**
 * Vaults this service can neither build for nor price: they are listed and watched. Their shares are followed as those of
 * every vault, and where they emit the events of ERC-4626, deposits and withdrawals are credited.
 */
export const other: VaultKind = {
  name: 'other',
  summary: 'Listed and watched only: no plans are built, and the price of its shares is not indexed.',
  asyncDeposit: false,
  asyncRedeem: false,
  emits: erc4626Emits,
  calls: erc4626Calls,
  errors: [],
  plans: undefined,
  readFigures: undefined,
  recognise,
}

const rebases = 'balances grow by themselves, so nothing is built for it and no yield is counted'

/** Recognises common contracts that are no vaults: markets, tokens that rebase, stakes with a window. The note names what to list instead. */
function recognise(address: Address): Read<Recognised | undefined> {
  return mapRead(
    combine({
      // A contract with the views of a vault is a vault.
      asset: readContract(address, erc4626Abi, 'asset', []),
      base: readContract(address, knownAbi, 'baseToken', []),
      utilization: readContract(address, knownAbi, 'getUtilization', []),
      underlying: readContract(address, knownAbi, 'UNDERLYING_ASSET_ADDRESS', []),
      scaled: readContract(address, knownAbi, 'scaledTotalSupply', []),
      pooled: readContract(address, knownAbi, 'getPooledEthByShares', [10n ** 18n]),
      totalShares: readContract(address, knownAbi, 'getTotalShares', []),
      staked: readContract(address, knownAbi, 'STAKED_TOKEN', []),
      wait: readContract(address, knownAbi, 'getCooldownSeconds', []),
      stakeRate: readContract(address, knownAbi, 'getExchangeRate', []),
    }),
    ({ asset, base, utilization, underlying, scaled, pooled, totalShares, staked, wait, stakeRate }) => {
      if (asset !== undefined) return undefined
      const found = (asset: Address, note: string): Recognised => ({ asset, receiptToken: address, notes: [note] })
      if (base && utilization !== undefined)
        return found(base, `a market of Compound: ${rebases}; list a vault that wraps it`)
      if (underlying && scaled !== undefined)
        return found(underlying, `a token of Aave: ${rebases}; list the StataToken that wraps it, as erc4626`)
      if (pooled !== undefined && totalShares !== undefined)
        return found(address, `a token that rebases: ${rebases}; list a vault over the token that wraps it`)
      if (staked && wait !== undefined && stakeRate === undefined)
        return found(
          staked,
          'a stake with a cooldown that does not say what its shares are worth: nothing is built for it',
        )
      return undefined
    },
  )
}
