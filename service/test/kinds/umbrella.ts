import { burn, erc4626Answers, mint } from './erc4626.js'
import type { KindFixture } from './fixture.js'

/** A stake whose window is open for all the wallet has. */
export const umbrella: KindFixture = {
  kind: 'umbrella',
  answers: {
    ...erc4626Answers,
    'function getCooldown() view returns (uint256)': 604_800n,
    'function getUnstakeWindow() view returns (uint256)': 172_800n,
    'function getStakerCooldown(address) view returns (uint192, uint32, uint32)': [10n ** 24n, 1_700_000_000, 172_800],
  },
  deposit: mint,
  withdraw: burn,
}
