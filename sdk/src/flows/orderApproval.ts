import { ask } from '../wallet/provider.js'
import { read } from '../wallet/reads.js'
import type { World } from '../wallet/world.js'
import { readNonce, readReceipt } from './chain.js'
import { back, type OrderFlow } from './orderState.js'
import { change, isHex } from './state.js'

/** After this number of looks an approval is lost that its node does not know, or whose number another transaction took. */
const looksMax = 10

/** Follows an approval until it is mined, or nobody knows it. */
export async function followApproval(flow: OrderFlow, { provider }: World): Promise<OrderFlow> {
  const { hash, asked, wallet, position } = flow
  const next = () => change(flow, { status: 'ready', position: position + 1, needs: undefined, looks: 0 })
  const receipt = isHex(hash, 32) ? await readReceipt(provider, hash) : undefined
  if (receipt?.success) return next()
  if (receipt) return back(flow, { code: 'REVERTED', text: 'the approval was mined and reverted' })
  // It may have been sped up, or sent by somebody else.
  if (await isAllowed(flow, provider)) return next()
  const looks = (flow.looks ?? 0) + 1
  const nonce = asked?.place && Number(asked.place.nonce)
  const isTaken = nonce !== undefined && (await readNonce(provider, wallet)) > nonce
  const isKnown = isHex(hash, 32) && (await ask(provider, 'eth_getTransactionByHash', [hash])) != null
  if (isKnown && !isTaken) return change(flow, { looks: 1 })
  if (looks < looksMax) return change(flow, { looks })
  return back(flow, { code: 'NEVER_SEEN', text: 'the approval was not mined: the wallet may be asked for it again' })
}

/** Whether the relayer may take what the present approval allows. */
async function isAllowed({ built, position, wallet }: OrderFlow, provider: World['provider']): Promise<boolean> {
  const { to, data } = built?.approvals[position]?.transaction ?? {}
  const [spender, amount] = (data?.slice(10).match(/.{64}/g) ?? []).map((each) => BigInt(`0x${each}`))
  if (!to || spender === undefined || amount === undefined) return false
  const [allowance] = (await read(provider, to, 'allowance(address,address)', wallet, spender)) ?? []
  return allowance !== undefined && (amount === 0n ? allowance === 0n : allowance >= amount)
}
