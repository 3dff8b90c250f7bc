import type { Address } from 'viem'
import { type KindFixture, moved, places, told } from './fixture.js'

/** What vaults of ERC-4626 answer, and those that build on it. */
export const erc4626Answers = {
  'function asset() view returns (address)': places.asset,
  'function totalAssets() view returns (uint256)': 10n ** 12n,
  'function totalSupply() view returns (uint256)': 10n ** 24n,
  'function convertToAssets(uint256) view returns (uint256)': 1_250_000n,
  'function maxDeposit(address) view returns (uint256)': 10n ** 12n,
  'function maxRedeem(address) view returns (uint256)': 10n ** 24n,
  'function previewDeposit(uint256) view returns (uint256)': 10n ** 18n,
  'function previewRedeem(uint256) view returns (uint256)': 10n ** 6n,
  'function balanceOf(address) view returns (uint256)': 10n ** 24n,
}

export const mint = (wallet: Address, assets: bigint, shares: bigint) => [
  moved(places.nobody, wallet, shares),
  told(places.vault, 'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)', {
    sender: wallet,
    owner: wallet,
    assets,
    shares,
  }),
]

export const burn = (wallet: Address, assets: bigint, shares: bigint) => [
  moved(wallet, places.nobody, shares),
  told(
    places.vault,
    'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
    { sender: wallet, receiver: wallet, owner: wallet, assets, shares },
  ),
]

export const erc4626: KindFixture = { kind: 'erc4626', answers: erc4626Answers, deposit: mint, withdraw: burn }

/** A token: it tells of transfers alone. */
export const erc20: KindFixture = {
  kind: 'erc20',
  answers: { 'function totalSupply() view returns (uint256)': 10n ** 24n },
  deposit: (wallet, _assets, shares) => [moved(places.nobody, wallet, shares)],
  withdraw: (wallet, _assets, shares) => [moved(wallet, places.nobody, shares)],
}

/** Nothing is built for such a vault; where it tells what one of ERC-4626 tells, that counts. */
export const other: KindFixture = {
  ...erc4626,
  kind: 'other',
  answers: {
    'function baseToken() view returns (address)': places.asset,
    'function getUtilization() view returns (uint256)': 0n,
  },
}
