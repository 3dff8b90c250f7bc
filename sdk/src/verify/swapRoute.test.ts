import { type Address, decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { callOf, placeOfSwap, readSwapPlans, type SwapPlan, verifySwapPlan } from '../../test/swapPlans.js'

const abi = parseAbi([
  'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
])
const [hub, other]: Address[] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
const refusal = 'the swap passes through another token'

/** A plan through pools of V2 whose path goes over a hub; its suffix is no longer signed for it. */
function overHub(): SwapPlan {
  for (const plan of readSwapPlans()) {
    const step = plan.transactions[placeOfSwap(plan)]!
    const call = callOf(step)
    if (!call.startsWith('0x38ed1739')) continue
    const { functionName, args } = decodeFunctionData({ abi, data: call })
    const [amountIn, least, path, to, deadline] = args
    const longer = encodeFunctionData({
      abi,
      functionName,
      args: [amountIn, least, [path[0]!, hub!, ...path.slice(1)], to, deadline],
    })
    step.transaction.data = `${longer}${step.transaction.data.slice(call.length)}` as Hex
    return plan
  }
  throw new Error('no plan swaps tokens for tokens through V2')
}

const problemsOf = async (hubTokens: readonly Address[] | undefined) => {
  const plan = overHub()
  const { hubTokens: _, ...swap } = plan.context.swap!
  plan.context.swap = { ...swap, ...(hubTokens === undefined ? {} : { hubTokens }) }
  return (await verifySwapPlan(plan)).problems
}

describe('the native token', () => {
  it.each(['native', `0x${'e'.repeat(40)}`, `0x${'E'.repeat(40)}`, '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'])(
    'is asked for as %s',
    async (spelled) => {
      const plan = readSwapPlans().find(({ request }) => (request as { tokenIn?: string }).tokenIn === 'native')!
      Object.assign(plan.request, { tokenIn: spelled })
      expect((await verifySwapPlan(plan)).problems).toEqual([])
    },
  )
})

describe('the route of a swap', () => {
  it('passes through the hubs that are known, and through any where they are not', async () => {
    for (const hubTokens of [[hub!], [other!, hub!], undefined])
      expect(await problemsOf(hubTokens)).not.toContain(refusal)
  })

  it('is refused where it passes through another token', async () => {
    for (const hubTokens of [[], [other!]]) expect(await problemsOf(hubTokens)).toContain(refusal)
  })
})
