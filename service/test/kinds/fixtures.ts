import { cooldown } from './cooldown.js'
import { erc20, erc4626, other } from './erc4626.js'
import { erc5115 } from './erc5115.js'
import { erc7540, erc7540Deposit, erc7540Redeem, lagoon } from './erc7540.js'
import type { KindFixture } from './fixture.js'
import { maple } from './maple.js'
import { umbrella } from './umbrella.js'
import { veda } from './veda.js'
import { windowStake } from './windowStake.js'

/** One of every vault kind. */
export const fixtures: readonly KindFixture[] = [
  erc4626,
  erc5115,
  erc7540,
  erc7540Deposit,
  erc7540Redeem,
  cooldown,
  windowStake,
  umbrella,
  maple,
  veda,
  lagoon,
  erc20,
  other,
]
