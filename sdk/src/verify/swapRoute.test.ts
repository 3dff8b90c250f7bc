import { type Address, decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { resign } from '../../test/forgeries.js'
import { callOf, placeOfSwap, readSwapPlans, type SwapPlan, verifySwapPlan } from '../../test/swapPlans.js'
import { readWrapCall } from './swapCalls.js'

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

describe('the suffixes of a plan that swaps', () => {
  it.each([
    ['withdrawal', 'erc4626 withdraw 4'],
    ['deposit', 'erc4626 deposit 1'],
  ])('are refused where those of a %s and its swap carry two actions', async (_what, name) => {
    const plan = readSwapPlans().find((each) => each.name === name)!
    // Whoever does not pin the action: both suffixes are signed for their own calls.
    delete plan.context.actionId
    expect((await verifySwapPlan(plan)).ok).toBe(true)
    const at = placeOfSwap(plan)
    const alone = { ...plan, transactions: [plan.transactions[at]!] }
    const other = await resign(alone, (call) => call, { actionId: `0x${'11'.repeat(16)}` })
    plan.transactions[at] = other.transactions[0]!
    expect((await verifySwapPlan(plan)).problems).toEqual(['the suffixes carry two actions'])
  })
})

describe('readWrapCall', () => {
  const [weth, user] = [`0x${'c3'.repeat(20)}`, `0x${'d4'.repeat(20)}`] as [Address, Address]
  const wrappedAbi = parseAbi(['function withdraw(uint256 amount)', 'function deposit()'])
  const unwrap = encodeFunctionData({ abi: wrappedAbi, functionName: 'withdraw', args: [7n] })
  const wrap = encodeFunctionData({ abi: wrappedAbi, functionName: 'deposit' })
  const read = (
    data: Hex,
    value: bigint,
    [tokenIn, tokenOut]: [Address | 'native', Address | 'native'],
    amountIn?: bigint,
  ) => readWrapCall({ to: weth, data, value }, { user, tokenIn, tokenOut, wrappedNative: weth, amountIn })

  it('takes an unwrap that sends nothing, and none that sends native tokens', () => {
    expect(read(unwrap, 0n, [weth, 'native'], 7n)).toMatchObject({ amountIn: 7n, minimumOut: 7n })
    expect(read(unwrap, 1n, [weth, 'native'], 7n)).toBeUndefined()
    expect(read(unwrap, 0n, [weth, 'native'], 8n)).toBeUndefined()
    expect(read(`${unwrap}00`, 0n, [weth, 'native'], 7n)).toBeUndefined()
    expect(read(unwrap, 0n, [weth, user])).toBeUndefined()
  })

  it('takes a wrap of what it sends', () => {
    expect(read(wrap, 7n, ['native', weth], 7n)).toMatchObject({ amountIn: 7n, minimumOut: 7n })
    expect(read(wrap, 6n, ['native', weth], 7n)).toBeUndefined()
    expect(read(wrap, 7n, [user, weth], 7n)).toBeUndefined()
  })
})
