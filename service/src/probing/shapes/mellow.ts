import { type Address, isAddressEqual } from 'viem'
import { combine } from '../../rpc/multicall.js'
import { type Ask, assetAt, type Hints, hasQueue, named, type Shape } from './hints.js'

/** Stands for the native token, which is no contract. */
const native = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'

/**
 * A flexible vault of Mellow, or its share manager or one of its queues. The share manager is the token of the shares and names the
 * vault; the vault names it, and says of a queue whether it is its own.
 */
export async function findMellow(ask: Ask, address: Address, hints: Hints): Promise<Shape | undefined> {
  const vault = hints.shareManager !== undefined ? address : hints.vault
  if (vault === undefined) return undefined
  const told = await ask(
    combine({
      shareManager: named(vault, 'shareManager'),
      first: assetAt(vault, 0n),
      second: assetAt(vault, 1n),
      isQueue: hasQueue(vault, address),
    }),
  )
  const { shareManager } = told
  const asset = [told.first, told.second].find((each) => each !== undefined && !isAddressEqual(each, native))
  if (shareManager === undefined || asset === undefined) return undefined
  const isPart = isAddressEqual(vault, address) || isAddressEqual(shareManager, address) || told.isQueue === true
  if (!isPart) return undefined
  const owner = await ask(named(shareManager, 'vault'))
  if (owner === undefined || !isAddressEqual(owner, vault)) return undefined
  return {
    address: vault,
    recognised: {
      asset,
      receiptToken: shareManager,
      notes: [
        `a flexible vault of Mellow: shares are those of ${shareManager}, and come and go through a queue for each token once its oracle reports; no plan is built for it, and its shares are watched`,
      ],
    },
  }
}
