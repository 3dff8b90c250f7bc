import { burn, erc4626Answers, mint } from './erc4626.js'
import type { KindFixture } from './fixture.js'

/** A cooldown of a week, and nothing of the wallet that waits. */
export const cooldown: KindFixture = {
  kind: 'cooldown',
  answers: {
    ...erc4626Answers,
    'function cooldownDuration() view returns (uint24)': 604_800,
    'function cooldowns(address) view returns (uint104, uint152)': [0n, 0n],
  },
  deposit: mint,
  withdraw: burn,
}
