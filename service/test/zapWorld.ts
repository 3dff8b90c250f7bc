import type { Address } from 'viem'
import { account } from '../../contracts/test/anvil.js'
import { openSwapWorld } from './chain/swapWorld.js'

/** A member with another token, and a deep pool in which one of it is worth 2,000 of a vault's asset. */
export async function openZapWorld() {
  const [usd, ether] = [10n ** 6n, 10n ** 18n]
  const user = account(1)
  const { world, exchange, tokens } = await openSwapWorld({ pegUsd: '1' }, { decimals: 18 })
  const [asset, other]: readonly [Address, Address] = tokens
  await exchange.v2Pool(asset, other, 10_000_000n * usd, 5_000n * ether)
  await world.mint(other, user.address, 100n * ether)
  await world.join(user.address)
  return { world, user, asset, other }
}
