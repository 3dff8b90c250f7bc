import { describe, expect, it } from 'vitest'
import { attacker } from '../../test/mutations.js'
import { namedPlan, type Plan, verify } from '../../test/plans.js'

const deposit = 'erc4626 deposit without approval'
const withdraw = 'erc4626 withdraw'
const cancel = 'erc7540 cancel'

async function ask(name: string, change: object): Promise<{ ok: boolean; problems: string[] }> {
  const plan = namedPlan(name)
  return verify({ ...plan, request: { ...plan.request, ...change } as Plan['request'] })
}

describe('a request', () => {
  it.each<[string, string, object, string]>([
    ['no type', deposit, { type: undefined }, 'a request of the type undefined cannot be verified'],
    ['another type', deposit, { type: 'transfer' }, 'a request of the type transfer cannot be verified'],
    [
      'a type of the prototype',
      deposit,
      { type: 'constructor' },
      'a request of the type constructor cannot be verified',
    ],
    ['a list for a type', deposit, { type: ['deposit'] }, 'a request of the type an object cannot be verified'],
    ['no wallet', deposit, { userAddress: undefined }, 'userAddress: undefined is no address'],
    ['a short wallet', deposit, { userAddress: '0x7099' }, 'userAddress: 0x7099 is no address'],
    ['a wallet on two lines', deposit, { userAddress: '0x\n70' }, 'userAddress: 0x?70 is no address'],
    ['a very long wallet', deposit, { userAddress: 'x'.repeat(999) }, `userAddress: ${'x'.repeat(80)}… is no address`],
    ['no token', deposit, { tokenIn: null }, 'tokenIn: null is no address'],
    ['an amount of 0', deposit, { amount: '0' }, 'amount is no amount above 0'],
    ['a slippage that is no number', withdraw, { slippageBps: '50' }, 'slippageBps is no whole number'],
    ['a slippage above which nothing is', withdraw, { slippageBps: Number.NaN }, 'slippageBps is no whole number'],
    ['an amount beyond 256 bits', deposit, { amount: String(2n ** 256n) }, 'amount is no amount above 0'],
    ['an amount that is a number', withdraw, { amount: 1 }, 'amount is no amount above 0'],
    ['a negative amount', withdraw, { amount: '-1' }, 'amount is no amount above 0'],
    ['nobody who brings it', deposit, { distributorId: undefined }, 'distributorId is no text'],
    ['nobody who brings it', withdraw, { distributorId: null }, 'distributorId is no text'],
    ['a number for who brings it', cancel, { distributorId: 7 }, 'distributorId is no text'],
    ['a number for a referral code', deposit, { referralCode: 7 }, 'referralCode is no text'],
    [
      'the native token out',
      withdraw,
      { tokenOut: 'native' },
      'the last transaction calls something else than was asked for',
    ],
    ['a token out that is empty', withdraw, { tokenOut: '' }, 'tokenOut:  is no address'],
    ['a request id that is no amount', cancel, { requestId: '0x0' }, 'requestId is no amount'],
    ['a request id beyond 256 bits', cancel, { requestId: String(2n ** 256n) }, 'requestId is no amount'],
  ])('with %s is refused (%s)', async (_title, name, change, problem) => {
    expect(await ask(name, change)).toMatchObject({ ok: false, problems: [problem] })
  })

  it('is read as the service reads it: null and empty where it may be left out, and whatever it says beside', async () => {
    for (const [name, change] of [
      [deposit, { referralCode: null, slippageBps: 50, simulate: false, mode: 'direct' }],
      [deposit, { referralCode: '', tokenOut: attacker, requestId: '7' }],
      [withdraw, { tokenOut: null, referralCode: 'x', tokenIn: attacker }],
      [cancel, { requestId: null, distributorId: null, amount: 'x' }],
    ] as const)
      expect(await ask(name, change), name).toMatchObject({ ok: true, problems: [] })
  })
})
