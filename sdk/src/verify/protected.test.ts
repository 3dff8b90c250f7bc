import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { resign, withWord } from '../../test/forgeries.js'
import { addressWord, attacker, toWord } from '../../test/mutations.js'
import { namedPlan, type Plan, verify } from '../../test/plans.js'

const router = '0x00000000000000000000000000000000000c0ffe'
const abi = parseAbi([
  'function depositWithMinimum(address vault, uint256 assets, address receiver, uint256 minimumShares)',
])
const approveAbi = parseAbi(['function approve(address spender, uint256 amount)'])

/** A deposit with an approval as the service builds it where `protect` is asked for, signed by the service. */
async function protectedPlan(least = 7n): Promise<Plan> {
  const plan = namedPlan('erc4626 deposit with approval and referral code')
  const { amount, userAddress } = plan.request as { amount: string; userAddress: Address }
  const [approval, main] = plan.transactions as [Plan['transactions'][0], Plan['transactions'][0]]
  approval.transaction.data = encodeFunctionData({ abi: approveAbi, args: [router, BigInt(amount)] })
  main.transaction.to = router
  const args = [plan.context.vault.address as Address, BigInt(amount), userAddress, least] as const
  const made = await resign(plan, () => encodeFunctionData({ abi, args }))
  Object.assign(made.request, { protect: true })
  made.context.depositRouter = router
  return made
}

const wrongCall = ['the last transaction calls something else than was asked for']

describe('a protected deposit', () => {
  it('is what was asked where it goes through the known router, and is told so', async () => {
    const plan = await protectedPlan()
    plan.context.names = { [router]: 'the router' }
    const { ok, problems, sentences } = await verify(plan)
    expect(problems).toEqual([])
    expect(ok).toBe(true)
    expect(sentences[0]).toContain('Allow the router (')
    expect(sentences[1]).toMatch(/ through the router \(0x\w+\) for at least 7 shares; the shares go to /)
  })

  it('is refused without a known router, at another one, and for another kind', async () => {
    const { context, ...plan } = await protectedPlan()
    const { depositRouter, ...without } = context
    const said = async (changed: Plan['context']) => (await verify({ ...plan, context: changed })).problems
    expect(await said(without)).toEqual(['the deposit router of the chain is not known'])
    expect(await said({ ...context, depositRouter: attacker })).toContain('the last transaction calls another contract')
    expect(await said({ ...context, depositRouter: 'nowhere' })).toEqual(['depositRouter: nowhere is no address'])
    expect(await said({ ...context, vault: { ...context.vault, kind: 'cooldown' } })).toEqual([
      'only deposits into vaults of the kind erc4626 can be protected',
    ])
  })

  it('is refused where it was not asked for, and a plain deposit where it was', async () => {
    const plan = await protectedPlan()
    Object.assign(plan.request, { protect: false })
    expect((await verify(plan)).ok).toBe(false)
    Object.assign(plan.request, { protect: 'yes' })
    expect((await verify(plan)).problems).toEqual(['protect is neither true nor false'])
    const plain = namedPlan('erc4626 deposit without approval')
    Object.assign(plain.request, { protect: true })
    plain.context.depositRouter = router
    expect((await verify(plain)).problems).toContain('the last transaction calls another contract')
  })

  it.each([
    ['another vault', 0, addressWord(attacker)],
    ['another amount', 1, toWord(1n)],
    ['another receiver', 2, addressWord(attacker)],
    ['a minimum of 0', 3, toWord(0n)],
  ] as const)('is refused with %s, though the service signed it', async (_name, at, word) => {
    const plan = await resign(await protectedPlan(), (call) => withWord(call, at, word))
    expect((await verify(plan)).problems).toEqual(wrongCall)
  })

  it('is held to a minimum of the caller’s own', async () => {
    const plan = await protectedPlan(7n)
    plan.context.minimumOut = '7'
    expect((await verify(plan)).ok).toBe(true)
    plan.context.minimumOut = '8'
    expect((await verify(plan)).problems).toEqual(wrongCall)
  })
})
