import { type Address, erc20Abi, type Hex, parseAbi } from 'viem'
import { multicallMany } from '../../rpc/manyReads.js'
import { combine, multicall, type Read, readContract } from '../../rpc/multicall.js'
import type { Order } from '../orders/index.js'
import { type Deployed, readExchanges } from '../swap/index.js'
import { findLack, type Live, listAmounts, type OrderFunds } from './book.js'
import type { Look } from './look.js'
import { type Findings, findOffers } from './quotes.js'
import type { Wanted } from './screening.js'

/** Orders whose funds one call reads. */
const perCall = 100

const settlementAbi = parseAbi(['function filledAmount(bytes orderUid) view returns (uint256)'])

export type Seen = Findings & {
  lacking: { orderId: string; why: string; canFail: boolean }[]
  fit: string[]
}

/** Reads orders from the chain at one block. */
export async function readOrders(given: Look, live: readonly Live[], isTried: (live: Live) => boolean): Promise<Seen> {
  const { ctx, chain, record, head, turns } = given
  const at = { blockHash: head.hash }
  const reads = live.map(({ order }) => readOrderFunds(order))
  const [{ answers }, deployed] = await Promise.all([multicallMany(chain, reads, at, perCall), findDeployed(given)])
  const seen: Pick<Seen, 'lacking' | 'fit'> = { lacking: [], fit: [] }
  const wanted: Wanted[] = []
  for (const [index, each] of live.entries()) {
    const funds = answers[index]?.answer
    const { order, remaining } = each
    // Where the chain has filled something that is not derived yet, it is looked at again when it is.
    if (!funds || funds.filled !== order.amountIn - remaining) continue
    const why = findLack(each, funds)
    if (why === undefined) seen.fit.push(order.id)
    else seen.lacking.push({ orderId: order.id, why, canFail: funds.filled === 0n })
    const amounts = isTried(each) ? listAmounts(each, funds) : []
    if (amounts.length > 0) wanted.push({ live: each, amounts })
  }
  const snapshot = ctx.catalogue.current()
  return { ...seen, ...(await findOffers({ chain, snapshot, record, at, deployed }, wanted, turns)) }
}

function readOrderFunds({
  owner,
  tokenIn,
  relayer,
  settlement,
  uid,
}: Order): Read<OrderFunds & { filled: bigint | undefined }> {
  const [token, from] = [tokenIn as Address, owner as Address]
  return combine({
    balance: readContract(token, erc20Abi, 'balanceOf', [from]),
    allowance: readContract(token, erc20Abi, 'allowance', [from, relayer as Address]),
    filled: readContract(settlement as Address, settlementAbi, 'filledAmount', [uid as Hex]),
  })
}

/** Which exchanges are what they should be; it does not change, so it is asked once for what is set up. */
async function findDeployed({ chain, record, exchanges }: Look): Promise<Deployed> {
  const known = exchanges.get(record)
  if (known) return known
  const { answer } = await multicall(chain, readExchanges(record))
  if (answer.v2 || answer.v3) exchanges.set(record, answer)
  return answer
}
