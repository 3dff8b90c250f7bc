import { describe, expect, it } from 'vitest'
import {
  build,
  changed,
  free,
  type Loose,
  leavesOf,
  orderId,
  relayer,
  request,
  tokenIn,
  tokenOut,
  user,
  validTo,
} from '../../test/swapOrders.js'
import { type SwapOrderRequest, verifySwapOrder } from './verifySwapOrder.js'

describe('verifySwapOrder', () => {
  it('says yes to the order that was asked for, with the approvals it needs and without', () => {
    expect(new Date(validTo * 1_000).toISOString()).toBe('2026-11-18T11:06:40.000Z')
    expect(verifySwapOrder(request, build())).toEqual({
      ok: true,
      problems: [],
      sentences: [
        `Reset the allowance of ${relayer} for ${tokenIn} to 0.`,
        `Allow ${relayer} to take exactly 1000000 units of ${tokenIn} from your wallet.`,
        `Sign an order: 1000000 units of ${tokenIn} for at least 995 units of ${tokenOut}, filled at once or in parts by 2026-11-18T11:06:40Z; it goes to ${user}.`,
      ],
    })
    const whole = { ...request, partiallyFillable: false, names: { [tokenIn as string]: 'USDC' } }
    const built = build()
    expect(verifySwapOrder(whole, built).sentences).toEqual([])
    for (const count of [0, 1])
      expect(verifySwapOrder(request, { ...build(), approvals: build().approvals.slice(2 - count) }).ok).toBe(true)
    expect(
      verifySwapOrder(
        { ...request, minAmountOut: '1', tokenIn: request.tokenIn.toUpperCase().replace('X', 'x') },
        build(),
      ).ok,
    ).toBe(true)
  })

  it('says no to every change of every member that binds, and to one that is missing', () => {
    const binding = leavesOf(build()).filter((path) => !free.test(path.join('.')))
    expect(binding.length).toBeGreaterThan(60)
    for (const path of binding) {
      const mutations: unknown[] = [
        changed(path, (holder, name) => {
          holder[name] = typeof holder[name] === 'string' ? spoil(holder[name]) : flip(holder[name])
        }),
        changed(path, (holder, name) => {
          delete holder[name]
        }),
        changed(path, (holder, name) => {
          holder[name] = null
        }),
      ]
      for (const each of mutations) expect(verifySwapOrder(request, each).ok, path.join('.')).toBe(false)
    }
  })

  it('says no to members more in what is signed, to approvals more, and to a request that asks for another order', () => {
    const more = [
      ['typedData', 'message', 'x'],
      ['typedData', 'domain', 'salt'],
      ['typedData', 'types', 'X'],
    ]
    for (const path of more) {
      const built = changed(path, (holder, name) => {
        holder[name] = '1'
      })
      expect(verifySwapOrder(request, built).ok, path.join('.')).toBe(false)
    }
    const { approvals } = build()
    expect(verifySwapOrder(request, { ...build(), approvals: [...approvals, approvals[1]] }).ok).toBe(false)
    expect(verifySwapOrder(request, { ...build(), approvals: approvals.toReversed() }).ok).toBe(false)
    const others: Partial<SwapOrderRequest>[] = [
      ...[{ userAddress: relayer as string }, { chainId: 2 }, { tokenIn: tokenOut as string }, { tokenOut: 'native' }],
      ...[{ amountIn: '1000001' }, { minAmountOut: '996' }, { distributorId: 'other' }, { opportunityId: orderId }],
      ...[{ partiallyFillable: false }, { validToMax: validTo - 1 }, { settlement: user }, { relayer: user }],
    ]
    for (const other of others)
      expect(verifySwapOrder({ ...request, ...other }, build()).ok, JSON.stringify(other)).toBe(false)
  })

  it('tells what is wrong in the order of what is checked, each once', () => {
    const is = (name: string) => `${name} is not that of the order that was asked for`
    const approval = (at: number) => `approval ${at} is not the exact one of amountIn for the vault relayer`
    const other = { settlement: user, relayer: user } as Partial<SwapOrderRequest>
    expect(verifySwapOrder({ ...request, ...other }, build()).problems).toEqual([
      ...['typedData', 'orderUid', 'settlement', 'cancellation'].map(is),
      ...[1, 2].map(approval),
    ])
    expect(verifySwapOrder({ ...request, amountIn: 'x', validToMax: 0.5 }, build()).problems).toEqual([
      'the request has no amountIn',
      'the request has no validToMax',
    ])
  })

  const ofApproval = (change: (approval: Loose) => void, over: Partial<SwapOrderRequest> = {}) => {
    const built = build()
    change(built.approvals[1])
    return verifySwapOrder({ ...request, ...over }, built).problems
  }

  it('holds the gas of an approval as that of a plan: none is said, or from 21,000 to the cap', () => {
    const gas = (gasLimit: unknown, over: Partial<SwapOrderRequest> = {}) =>
      ofApproval(({ transaction }) => {
        transaction.gasLimit = gasLimit
      }, over)
    for (const good of [undefined, '21000', '120000', '30000000']) expect(gas(good)).toEqual([])
    expect(gas('20999')).toEqual(['transaction 2: has a gas limit of 20999, below 21000'])
    expect(gas('30000001')).toEqual(['transaction 2: has a gas limit of 30000001, above 30000000'])
    expect(gas('120001', { gasCap: 120_000n })).toEqual(['transaction 2: has a gas limit of 120001, above 120000'])
    for (const none of ['-1', '0x5208', '', null, 21_000])
      expect(gas(none)).toEqual(['transaction 2: has a gas limit that is no amount'])
    expect(gas('120000', { gasCap: 'x' })).toEqual(['the request has no gasCap'])
  })

  it('refuses more beside an approval or in it than a plan may say, and says in its own words what it does', () => {
    expect(
      ofApproval((approval) => {
        approval.capabilities = {}
      }),
    ).toEqual(['transaction 2: says more than a plan does: capabilities'])
    expect(
      ofApproval(({ transaction }) => {
        transaction.authorizationList = []
      }),
    ).toEqual(['transaction 2: says more than a plan does: authorizationList'])
    const built = build()
    built.approvals[1].description = 'Allow nobody to take anything.'
    expect(verifySwapOrder({ ...request, names: { [relayer as string]: 'the relayer' } }, built).sentences[1]).toBe(
      `Allow the relayer (${relayer}) to take exactly 1000000 units of ${tokenIn} from your wallet.`,
    )
  })

  it('answers a verdict whatever it is given', () => {
    for (const junk of [undefined, null, 7, '', [], {}, { typedData: 1 }, { typedData: { message: [] }, orderId }])
      expect(verifySwapOrder(request, junk).ok).toBe(false)
    expect(verifySwapOrder({} as SwapOrderRequest, build()).ok).toBe(false)
  })
})

/** Another text of the same form. */
const spoil = (text: string): string => (text.endsWith('1') ? `${text.slice(0, -1)}2` : `${text.slice(0, -1)}1`)
const flip = (value: unknown): unknown => (typeof value === 'number' ? value + 1 : !value)
