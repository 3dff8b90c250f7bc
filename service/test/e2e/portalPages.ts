import { present } from '../../../contracts/test/present.js'
import { devAccount } from '../../src/cli/dev/anvil.js'
import { playerIndexes } from '../../src/cli/dev/history.js'
import type { Dev } from './process.js'

/** A wallet with deposits. */
export const player = devAccount(playerIndexes[0]).address

/** The pages of the portal by what they show, each as its path. */
export const listPages = (dev: Dev) => ({
  list: '',
  'list without a match': '?search=nothing+like+this',
  opportunity: `opportunities/${dev.opportunities[0]!.id}`,
  'opportunity with its rates': `opportunities/${dev.opportunities[0]!.id}?chart=apy&range=7d`,
  withheld: `opportunities/${dev.withheld[0]!.id}?chart=apy`,
  portfolio: `portfolio/${player}`,
  'earnings of a month': `portfolio/${player}?month=${present().toISOString().slice(0, 7)}`,
  'portfolio of nobody': 'portfolio',
  distributor: `distributor/${dev.distributorIds[0]}?range=7d`,
  ledger: `distributor/${dev.distributorIds[0]}/ledger`,
  streams: `distributor/${dev.distributorIds[0]}/streams`,
  key: `distributor/${dev.distributorIds[0]}/key`,
  'look-up': `attribution?tx=0x${'1'.repeat(64)}&chainId=31337`,
  status: 'status',
  methodology: 'methodology',
  nowhere: 'nowhere',
})
