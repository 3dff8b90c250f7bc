import type { World } from '../wallet/world.js'
import { isAllowed, isWaiting, lostAfterLooks, readReceipt } from './chain.js'
import { back, type OrderFlow } from './orderState.js'
import { change, isHex } from './state.js'

/** Follows an approval until it is mined, or nobody knows it. */
export async function followApproval(flow: OrderFlow, { provider }: World): Promise<OrderFlow> {
  const { hash, asked, wallet, position, built } = flow
  const next = () => change(flow, { status: 'ready', position: position + 1, needs: undefined, looks: 0 })
  const receipt = isHex(hash, 32) ? await readReceipt(provider, hash) : undefined
  if (receipt?.success) return next()
  if (receipt) return back(flow, { code: 'REVERTED', text: 'the approval was mined and reverted' })
  // It may have been sped up, or sent by somebody else.
  const planned = built?.approvals[position]?.transaction
  if (planned && (await isAllowed(provider, wallet, planned))) return next()
  if (isHex(hash, 32) && (await isWaiting(provider, { hash, wallet, place: asked?.place })))
    return change(flow, { looks: 1 })
  const looks = (flow.looks ?? 0) + 1
  if (looks < lostAfterLooks) return change(flow, { looks })
  return back(flow, { code: 'NEVER_SEEN', text: 'the approval was not mined: the wallet may be asked for it again' })
}
