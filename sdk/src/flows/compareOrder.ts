import { checkOrder } from '../wallet/ask.js'
import {
  type Confirm,
  halfBps,
  isNative,
  isSlippage,
  quoteBest,
  shareOf,
  tellSlippage,
  toleranceBps,
} from '../wallet/reads.js'
import { findFacts, nowOf, type World } from '../wallet/world.js'
import { tellConfirm } from './confirming.js'
import { type OrderFlow, refuse, toAsked } from './orderState.js'
import { change, isOwn, make, newId } from './state.js'

/** The most that the known exchanges give for what is sold. */
async function quoteOrder({ params, chainId }: OrderFlow, world: World): Promise<bigint | undefined> {
  const { facts } = await findFacts(world, chainId)
  const { quoter, wrappedNative: hub, routers } = facts
  const to = isNative(params.tokenOut) ? hub : params.tokenOut
  const v2 = routers.find(({ kind }) => kind === 'uniswap-v2')?.address
  const pair = { from: params.tokenIn, to: to ?? '', amount: BigInt(params.amountIn) }
  return to ? quoteBest(world.provider, { quoter, v2, hub }, pair) : undefined
}

/**
 * Compares an order with what was wanted, and with an own quote. `isRead`: the user asked for this order in this program; of
 * one that was stored he has read nothing.
 */
export async function compareOrder(flow: OrderFlow, world: World, isRead: boolean): Promise<OrderFlow> {
  const { built, params } = flow
  if (!built) return refuse(flow, { code: 'NO_ORDER', text: 'the flow has no order' })
  if (!isSlippage(params.slippageBps))
    return refuse(flow, { code: 'NOT_AS_ASKED', text: tellSlippage(params.slippageBps) })
  const quote = await quoteOrder(flow, world)
  const asking = (bps: number) => ({ ...flow, least: String(shareOf(quote ?? 0n, bps) || 1n) })
  const judge = (made: OrderFlow) => checkOrder(world, toAsked(made), built)
  let made = asking(10_000 - params.slippageBps - toleranceBps)
  let confirm: Confirm | undefined = quote === undefined ? 'no-quote' : undefined
  let verdict = await judge(made)
  if (!verdict.ok && quote !== undefined) {
    const loose = asking(halfBps)
    const second = await judge(loose)
    if (second.ok) [made, confirm, verdict] = [loose, 'below-quote', second]
  }
  const { ok, problems, sentences, trusts } = verdict
  if (!ok) return refuse({ ...flow, trusts }, { code: 'NOT_AS_ASKED', text: problems.join('\n') })
  const before = isRead ? flow.before : undefined
  const isOther = before !== undefined && JSON.stringify(before) !== JSON.stringify(sentences)
  return make<OrderFlow>({
    ...made,
    ...{ status: 'ready', sentences, trusts, looks: 0, before: isOther ? before : undefined },
    needs: confirm || isOther ? 'confirm' : isRead ? undefined : 'go',
    problem: tellConfirm(confirm),
  })
}

/** Measured on one clock, which may be wrong by any time. */
export function isStale({ params, builtAt = 0 }: OrderFlow, world: World): boolean {
  const { validForSeconds = 1_800 } = params
  const age = nowOf(world) - builtAt
  return !(age >= 0 && age < validForSeconds * 900)
}

export const buildAgain = (flow: OrderFlow): OrderFlow =>
  change(flow, {
    ...{ status: 'building', key: newId(), built: undefined, needs: undefined },
    before: isOwn(flow) ? flow.sentences : undefined,
  })
