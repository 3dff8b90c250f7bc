import type { Address } from 'viem'
import { type KindFixture, moved, places, told } from './fixture.js'

const declared = (name: string) =>
  `event ${name}(address indexed from, address indexed to, uint256 assets, uint256 shares)`
const staked = (name: string, wallet: Address, assets: bigint, shares: bigint) =>
  told(places.vault, declared(name), { from: wallet, to: wallet, assets, shares })

/** A stake whose window is open for all the wallet has. */
export const windowStake: KindFixture = {
  kind: 'window-stake',
  answers: {
    'function STAKED_TOKEN() view returns (address)': places.asset,
    'function UNSTAKE_WINDOW() view returns (uint256)': 172_800n,
    'function getCooldownSeconds() view returns (uint256)': 604_800n,
    'function stakersCooldowns(address) view returns (uint40, uint216)': [1_700_000_000, 10n ** 24n],
    'function inPostSlashingPeriod() view returns (bool)': false,
    'function getExchangeRate() view returns (uint216)': 10n ** 18n,
    'function previewStake(uint256) view returns (uint256)': 10n ** 6n,
    'function previewRedeem(uint256) view returns (uint256)': 10n ** 6n,
    'function totalSupply() view returns (uint256)': 10n ** 24n,
    'function balanceOf(address) view returns (uint256)': 10n ** 24n,
  },
  deposit: (wallet, assets, shares) => [moved(places.nobody, wallet, shares), staked('Staked', wallet, assets, shares)],
  withdraw: (wallet, assets, shares) => [
    moved(wallet, places.nobody, shares),
    staked('Redeem', wallet, assets, shares),
  ],
}
