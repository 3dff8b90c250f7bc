import { prepareSuffix } from '@openearn/attribution'
import { type Address, concat, erc20Abi, type Hex } from 'viem'
import { derivedId } from '../../kernel/ids.js'
import { multicall, readContract, requestRead } from '../../rpc/multicall.js'
import type { Call } from '../../rpc/simulateBlock.js'
import { answers } from '../../rpc/wire.js'
import { findToken } from '../catalogue/index.js'
import type { Quote } from '../swap/index.js'
import type { Offer } from './book.js'
import type { Look } from './look.js'
import { encodeSettlement, type Fill, findPayout } from './settlementCall.js'
import type { KnownWallet } from './wallets.js'

/** A deadline far in the future for swaps on the way: the settlement contract enforces the order's own expiry. */
const farAway = 10_000_000_000n

/** How many payout accounts that already exist are skipped at most. */
const payoutsMax = 4

/** The fill of an offer in an attempt. Its id decides where its payout is made: no account may be there. */
export async function openFill(
  { trialChain, record }: Look,
  { live: { order }, amountIn, amountOut, quote }: Offer,
  attempt: number,
): Promise<Fill> {
  for (let turn = 0; turn < payoutsMax; turn++) {
    const id = derivedId(`settlement:${order.id}:${attempt}${turn === 0 ? '' : `:${turn}`}`)
    const fill = { id, order, amountIn, amountOut }
    if (!quote) return fill
    const address = findPayout(fill, record.wrappedNative as Address)
    const code = await requestRead(trialChain, answers.bytes.parse, 'eth_getCode', [address, 'latest'])
    if (code === '0x') return fill
  }
  throw new Error(`${payoutsMax} accounts for the payout of order ${order.id} are taken`)
}

/** The settlement of a fill, without a suffix: its target and its data. `wallet`: its owner's code as it was read. */
export async function buildSettlement(
  { ctx, chain, trialChain, record, settings }: Look,
  fill: Fill,
  offer: Offer,
  wallet: KnownWallet | undefined,
): Promise<{ to: Address; data: Hex }> {
  const { quote } = offer
  const { order, amountOut } = fill
  const build = (wallet: Address): Call => (quote as Quote).build({ wallet, minimumOut: amountOut, deadline: farAway })
  const token = findToken(ctx.catalogue.current(), chain.chainId, order.tokenIn)
  const approvalReset = token?.approvalReset ?? true
  const allowance = await readAllowance(trialChain, offer)
  const route = quote?.spender && { spender: quote.spender, allowance, approvalReset, build }
  const check = wallet && { ...wallet, sender: settings.solver?.address as Address }
  const wrappedNative = record.wrappedNative as Address
  const data = encodeSettlement(fill, { route: route || undefined, check, wrappedNative })
  return { to: order.settlement as Address, data }
}

/** The present allowance of the settlement contract for the exchange of an offer. */
async function readAllowance(chain: Look['chain'], { live: { order }, quote }: Offer): Promise<bigint> {
  if (!quote?.spender) return 0n
  const args = [order.settlement as Address, quote.spender] as const
  const { answer } = await multicall(chain, readContract(order.tokenIn as Address, erc20Abi, 'allowance', args))
  return answer ?? 0n
}

/** Data with our suffix behind it, signed for the order of a fill. */
export async function signSettlement(
  { ctx, chain, settings }: Look,
  { order }: Fill,
  { to, data }: { to: Address; data: Hex },
): Promise<Hex> {
  const { digest, suffix } = prepareSuffix({
    ...{ code: order.distributorId, actionId: order.id, chainId: chain.chainId },
    ...{ wallet: settings.solver?.address as Address, target: to, data },
  })
  const signature = await ctx.attributionSigner?.sign(digest)
  return concat([data, suffix(signature)])
}
