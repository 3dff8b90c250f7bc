import { describe, expect, it } from 'vitest'
import { namedPlan, type Plan, readPlans, verify } from '../../test/plans.js'

const user = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const token = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const old = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const weth = '0x2279B7A0a67DB372996a5FaB50D91eAA73d2eBe6'
const vaults = {
  erc4626: '0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9',
  reset: '0x0165878A594ca255338adfa4d48449f69242Eb8F',
  native: '0x8A791620dd6260079BF849Dc5567aDC3F2FdC318',
  erc5115: '0xa513E6E4b8f2a923D98304ec87F64353C4D5C853',
  erc7540: '0x610178dA211FEF7D417bC0e6FeD39F05609AD788',
  lagoon: '0x9A676e781A523b5d0C0e43731313A708CB607508',
}
const { erc4626, erc5115, erc7540, lagoon } = vaults
const allow = (vault: string, amount: string, of = token) =>
  `Allow ${vault} to take exactly ${amount} units of ${of} from your wallet.`

const expected: Readonly<Record<string, string[]>> = {
  'erc4626 deposit with approval and referral code': [
    allow(erc4626, '123000000'),
    `Deposit 123000000 units of ${token} into ${erc4626}; the shares go to ${user}; brought by acme with the referral code friend-1.`,
  ],
  'erc4626 deposit without approval': [
    `Deposit 50000000 units of ${token} into ${erc4626}; the shares go to ${user}; brought by acme.`,
  ],
  'erc4626 withdraw': [
    `Redeem 1000000000000000000 shares of ${erc4626}; the ${token} goes to ${user}; brought by acme.`,
  ],
  'erc4626 deposit with reset': [
    `Reset the allowance of ${vaults.reset} for ${old} to 0.`,
    allow(vaults.reset, '77000000', old),
    `Deposit 77000000 units of ${old} into ${vaults.reset}; the shares go to ${user}; brought by acme.`,
  ],
  'erc5115 deposit': [
    allow(erc5115, '90000000'),
    `Deposit 90000000 units of ${token} into ${erc5115} for at least LEAST shares; the shares go to ${user}; brought by acme.`,
  ],
  'erc5115 withdraw': [
    `Redeem 1000000000000000000 shares of ${erc5115}; the ${token}, at least LEAST units, goes to ${user}; brought by acme.`,
  ],
  'erc4626 deposit of the native token': [
    `Send 1000000000000000000 wei of the native token to ${weth}, which wraps them for your wallet.`,
    allow(vaults.native, '1000000000000000000', weth),
    `Deposit 1000000000000000000 units of ${weth} into ${vaults.native}; the shares go to ${user}; brought by acme.`,
  ],
  'erc7540 request': [
    allow(erc7540, '100000000'),
    `Request to deposit 100000000 units of ${token} into ${erc7540}; once it is settled, ${user} claims the shares; brought by acme.`,
  ],
  'erc7540 cancel': [
    `Cancel the pending deposit 0 in ${erc7540}; the ${token} is refunded to ${user}; brought by acme.`,
  ],
  'erc7540 claim of a cancellation': [
    `Take back the ${token} of the cancelled deposit 0 in ${erc7540}; it goes to ${user}; brought by acme.`,
  ],
  'erc7540 claim': [
    `Claim the shares of CLAIMED units of ${token} deposited into ${erc7540}; they go to ${user}; brought by acme.`,
  ],
  'erc7540 request to redeem': [
    `Request to redeem 10000000000000000000 shares of ${erc7540}; once it is settled, ${user} claims the ${token}; brought by acme.`,
  ],
  'erc7540 claim of a redemption': [
    `Redeem 1000000000000000000 shares of ${erc7540}; the ${token} goes to ${user}; brought by acme.`,
  ],
  'lagoon request': [
    allow(lagoon, '100000000'),
    `Request to deposit 100000000 units of ${token} into ${lagoon}; once it is settled, ${user} claims the shares; brought by acme.`,
  ],
  'lagoon cancel': [`Cancel the pending deposit in ${lagoon}; the ${token} is refunded to ${user}; brought by acme.`],
  'lagoon claim': [
    `Claim the shares of CLAIMED units of ${token} deposited into ${lagoon}; they go to ${user}; brought by acme.`,
  ],
  'lagoon request to redeem': [
    `Request to redeem 10000000000000000000 shares of ${lagoon}; once it is settled, ${user} claims the ${token}; brought by acme.`,
  ],
  'lagoon claim of a redemption': [
    `Redeem 1000000000000000000 shares of ${lagoon}; the ${token} goes to ${user}; brought by acme.`,
  ],
}

/** The n-th argument of the last call, read by hand. */
function argument({ transactions }: Plan, at: number): string {
  const { data } = transactions[transactions.length - 1]!.transaction
  return String(BigInt(`0x${data.slice(10 + 64 * at, 74 + 64 * at)}`))
}

describe('the sentences of a plan', () => {
  it.each(readPlans().map((plan) => [plan.name, plan] as const))('say what is signed: %s', async (name, plan) => {
    const { sentences } = await verify(plan)
    expect(sentences).toEqual(
      expected[name]?.map((each) => each.replace('LEAST', argument(plan, 3)).replace('CLAIMED', argument(plan, 0))),
    )
    expect(sentences).toHaveLength(plan.transactions.length)
  })

  it('name an address, beside itself, as it was handed in, in any case of letters', async () => {
    const plan = namedPlan('erc4626 deposit without approval')
    plan.context.names = {
      [token.toLowerCase()]: 'USDC',
      [erc4626.toUpperCase()]: 'Yield Vault',
      [user]: 'me',
      [old]: 'x',
    }
    expect((await verify(plan)).sentences).toEqual([
      `Deposit 50000000 units of USDC (${token}) into Yield Vault (${erc4626}); the shares go to me (${user}); brought by acme.`,
    ])
  })

  it.each<[string, Record<string, number>, string[]]>([
    ['erc4626 deposit without approval', { [token.toLowerCase()]: 6 }, ['Deposit 50 (50000000 units) of TOKEN into']],
    [
      'erc4626 deposit with reset',
      { [old]: 9 },
      ['Reset the allowance', 'exactly 0.077 (77000000 units) of', 'Deposit 0.077 (77000000 units) of'],
    ],
    ['erc4626 deposit without approval', { [token]: 0 }, ['Deposit 50000000 (50000000 units) of TOKEN into']],
    ['erc4626 withdraw', { [erc4626]: 18 }, ['Redeem 1 shares (1000000000000000000 units) of']],
    ['erc4626 withdraw', { [token]: 6 }, ['Redeem 1000000000000000000 shares of']],
    ['lagoon request to redeem', { [lagoon]: 20 }, ['Request to redeem 0.1 shares (10000000000000000000 units) of']],
    ['erc7540 request', { [token]: 7 }, ['exactly 10 (100000000 units)', 'Request to deposit 10 (100000000 units) of']],
  ])('tell whole amounts as well, by decimals that were handed in: %s, %o', async (name, decimals, parts) => {
    const plan = namedPlan(name)
    Object.assign(plan.context, { decimals })
    const { sentences } = await verify(plan)
    expect(sentences).toHaveLength(parts.length)
    for (const [at, part] of parts.entries()) expect(sentences[at]).toContain(part.replace('TOKEN', token))
  })

  it.each<[unknown, RegExp]>([
    [[], /no list of decimals/],
    [{ USDC: 6 }, /USDC is no address/],
    [{ [token]: 6, [token.toLowerCase()]: 6 }, /stands there twice/],
    [{ [token]: '6' }, /no whole number from 0 to 77/],
    [{ [token]: -1 }, /no whole number/],
    [{ [token]: 1.5 }, /no whole number/],
    [{ [token]: 78 }, /no whole number/],
    [Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [i, 6])), /no list of decimals/],
  ])('are refused with decimals that tell no amount: %j', async (decimals, problem) => {
    const plan = namedPlan('erc4626 deposit without approval')
    Object.assign(plan.context, { decimals })
    const { ok, problems } = await verify(plan)
    expect(ok).toBe(false)
    expect(problems[0]).toMatch(problem)
  })

  it('say nothing of a suffix where there is none, and nothing at all of a plan that is refused', async () => {
    const plan = namedPlan('lagoon cancel')
    const { transaction } = plan.transactions[0]!
    transaction.data = transaction.data.slice(0, 10)
    plan.context.distributorId = null
    expect((await verify(plan)).sentences).toEqual([
      `Cancel the pending deposit in ${lagoon}; the ${token} is refunded to ${user}.`,
    ])
    transaction.value = '1'
    expect((await verify(plan)).sentences).toEqual([])
  })

  it('take 1,000 names', async () => {
    const plan = namedPlan('erc4626 deposit without approval')
    const addressAt = (index: number) => `0x${index.toString(16).padStart(40, '0')}`
    plan.context.names = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [addressAt(index + 1), 'x']))
    expect((await verify(plan)).problems).toEqual([])
  })

  it.each<[string, unknown, RegExp]>([
    ['a list', [], /no list of names/],
    ['a text', 'USDC', /no list of names/],
    ['a name of no address', { USDC: 'USDC' }, /USDC is no address/],
    ['two names of one address', { [token]: 'a', [token.toLowerCase()]: 'b' }, /named twice/],
    ['a name that is no text', { [token]: 7 }, /no short printable text/],
    ['an empty name', { [token]: '' }, /no short printable text/],
    ['a name of 65 letters', { [token]: 'x'.repeat(65) }, /no short printable text/],
    ['a name with a line break', { [token]: 'USDC\nApproved' }, /no short printable text/],
    ['a name that turns what follows around', { [token]: '\u202eCDSU' }, /no short printable text/],
    ['a name nobody sees', { [token]: '\u200b' }, /no short printable text/],
    ['more names than anyone has', Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [i, 'x'])), /no list/],
  ])('are refused with %s', async (_name, names, problem) => {
    const plan = namedPlan('erc4626 deposit without approval')
    Object.assign(plan.context, { names })
    const { ok, problems } = await verify(plan)
    expect(ok).toBe(false)
    expect(problems[0]).toMatch(problem)
  })
})
