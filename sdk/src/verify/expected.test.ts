import { encodeFunctionData, type Hex, parseAbi, slice } from 'viem'
import { describe, expect, it } from 'vitest'
import { resign, withWord } from '../../test/forgeries.js'
import { addressWord, attacker, toWord } from '../../test/mutations.js'
import { namedPlan, type Plan, verify } from '../../test/plans.js'
import { expectedCalls, nameContracts } from './expected.js'

const wrongCall = ['the last transaction calls something else than was asked for']

const requestAbi = parseAbi(['function requestRedeem(uint256 shares, address controller, address owner)'])

/** The call of every plan here is signed by the service's own key: only what it does is wrong. */
describe('a call signed by the service itself', () => {
  it.each(['erc5115 deposit', 'erc5115 withdraw'])(
    'is refused with a minimum of 0, also when the context says 0 (%s)',
    async (name) => {
      const plan = await resign(namedPlan(name), (call) => withWord(call, 3, toWord(0n)))
      for (const minimumOut of [undefined, '0', 0n]) {
        const context = { ...plan.context, ...(minimumOut === undefined ? {} : { minimumOut }) }
        expect((await verify({ ...plan, context })).problems).toEqual(wrongCall)
      }
      const least = await resign(namedPlan(name), (call) => withWord(call, 3, toWord(1n)))
      expect((await verify(least)).ok).toBe(true)
      least.context.minimumOut = '0'
      expect((await verify(least)).ok).toBe(true)
    },
  )

  it('is refused when another token out was asked of a vault that pays one', async () => {
    for (const name of ['erc4626 withdraw', 'erc7540 claim of a redemption']) {
      const plan = namedPlan(name)
      const asked = (tokenOut: string): Plan => ({ ...plan, request: { ...plan.request, tokenOut } as Plan['request'] })
      expect((await verify(asked(attacker))).problems).toEqual(wrongCall)
      expect((await verify(asked(plan.context.vault.asset))).ok).toBe(true)
    }
  })

  it('is refused when another token comes out of a vault that pays several than was asked', async () => {
    const plan = await resign(namedPlan('erc5115 withdraw'), (call) => withWord(call, 2, addressWord(attacker)))
    expect((await verify(plan)).problems).toEqual(wrongCall)
    Object.assign(plan.request, { tokenOut: attacker })
    expect((await verify(plan)).ok).toBe(true)
  })

  it.each(['erc7540 claim', 'lagoon claim'])('is refused when it claims 0 assets (%s)', async (name) => {
    const claim = (assets: bigint) => resign(namedPlan(name), (call) => withWord(call, 0, toWord(assets)))
    expect((await verify(await claim(0n))).problems).toEqual(wrongCall)
    const none = await claim(0n)
    none.context.requestAmount = '0'
    expect((await verify(none)).problems).toEqual(wrongCall)
    const some = await claim(7n)
    expect((await verify(some)).ok).toBe(true)
    some.context.requestAmount = 7n
    expect((await verify(some)).ok).toBe(true)
    some.context.requestAmount = 8n
    expect((await verify(some)).problems).toEqual(wrongCall)
  })

  it('is refused when it requests a redemption of an erc7540-deposit vault', async () => {
    const plan = namedPlan('erc7540 request to redeem')
    plan.context.vault.kind = 'erc7540-deposit'
    expect((await verify(plan)).problems).toEqual(wrongCall)
    const atOnce = namedPlan('erc7540 claim of a redemption')
    atOnce.context.vault.kind = 'erc7540-deposit'
    expect((await verify(atOnce)).ok).toBe(true)
  })

  it.each(['erc4626', 'erc5115'])('is refused when it requests a redemption of an %s vault', async (kind) => {
    const plan = namedPlan(`${kind} withdraw`)
    const { userAddress, amount } = plan.request as Extract<Plan['request'], { type: 'withdraw' }>
    const user = userAddress as Hex
    const data = encodeFunctionData({ abi: requestAbi, args: [BigInt(amount), user, user] })
    expect((await verify(await resign(plan, () => data))).problems).toEqual(wrongCall)
  })

  it('is refused when it cancels another request than was named, or in another way than the kind does', async () => {
    const plan = namedPlan('erc7540 cancel')
    const id = BigInt(slice(plan.transactions[0]!.transaction.data as Hex, 4, 36))
    const named = (requestId: bigint): Plan => ({
      ...plan,
      request: { ...plan.request, requestId: String(requestId) } as Plan['request'],
    })
    expect((await verify(named(id))).ok).toBe(true)
    expect((await verify(named(id + 1n))).problems).toEqual(wrongCall)
    for (const kind of ['erc4626', 'erc7540-redeem', 'lagoon']) {
      const other = structuredClone(plan)
      other.context.vault.kind = kind
      expect((await verify(other)).problems, kind).toEqual(wrongCall)
    }
  })
})

describe('the further contracts of a vault', () => {
  it('have the names of its kind, in the order in which the service lists them', () => {
    const [accountant, queue, teller] = ['0xa', '0xb', '0xc'] as const
    expect(nameContracts('veda', [accountant, teller])).toEqual({ accountant, teller })
    expect(nameContracts('veda', [accountant, queue, teller])).toEqual({ accountant, queue, teller })
    for (const { names = [] } of Object.values(expectedCalls))
      for (const list of names) expect(list).toEqual([...list].sort())
  })

  it('have none where a kind has none, or another number of them', () => {
    expect(nameContracts('erc4626', ['0xa'])).toEqual({})
    expect(nameContracts('veda', ['0xa'])).toEqual({})
    expect(nameContracts('constructor', ['0xa'])).toEqual({})
  })
})
