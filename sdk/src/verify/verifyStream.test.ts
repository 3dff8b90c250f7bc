import { beforeAll, describe, expect, it } from 'vitest'
import {
  addData,
  admin,
  approveData,
  chainId,
  claimData,
  createData,
  deadline,
  factory,
  makeStreamPlans,
  nobody,
  rootOf,
  type StreamPlan,
  siblings,
  stream,
  terms,
  token,
  treasury,
  verifier,
  withdrawData,
} from '../../test/streamPlans.js'
import { type StreamContext, type StreamRequest, verifyStream } from './verifyStream.js'

let plans: StreamPlan[]
let creation: StreamPlan
let increase: StreamPlan
let withdrawal: StreamPlan
let claim: StreamPlan
beforeAll(async () => {
  plans = await makeStreamPlans()
  ;[creation, increase, withdrawal, claim] = plans as [StreamPlan, StreamPlan, StreamPlan, StreamPlan]
})

/** The verdict on a plan with another call, other members of its context or of what was asked. */
function verify(
  plan: StreamPlan,
  changes: { data?: string; context?: Partial<StreamContext>; request?: object; before?: object[] } = {},
) {
  const main = structuredClone(plan.transactions.at(-1)!)
  if (changes.data !== undefined) main.transaction.data = changes.data
  const before = changes.before ?? plan.transactions.slice(0, -1)
  return verifyStream(
    { ...plan.request, ...changes.request } as StreamRequest,
    [...before, main] as never,
    { ...plan.context, ...changes.context } as StreamContext,
  )
}
const problems = async (...words: Parameters<typeof verify>) => (await verify(...words)).problems

describe('verifyStream', () => {
  it('says yes to what was asked for, and what each transaction does', async () => {
    const said = await Promise.all(plans.map((plan) => verify(plan)))
    expect(said.map(({ ok }) => ok)).toEqual([true, true, true, true])
    expect(said.map(({ sentences }) => sentences)).toEqual([
      [
        `Allow ${factory} to take exactly 1015002 units of ${token} from your wallet.`,
        `Create the reward stream 0x01890a5dac96774bbcceb302099a8057 with a budget of 1000001 units of ${token}, and 15001 as a fee.`,
      ],
      [
        `Reset the allowance of ${factory} for ${token} to 0.`,
        `Allow ${factory} to take exactly 1015002 units of ${token} from your wallet.`,
        `Add 1000001 units of ${token}, and 15001 as a fee, to the budget of the reward stream ${stream}.`,
      ],
      [`Withdraw 1000001 units from the reward stream ${stream}; they go to ${treasury}.`],
      [`Claim 1000001 units, less those already claimed, from the reward stream ${stream}; they go to ${admin}.`],
    ])
  })

  it('says yes where less is known: without verifiers, deadline, id, allowance and roots', async () => {
    const less = {
      verifiers: undefined,
      deadlineMax: undefined,
      streamId: undefined,
      allowance: undefined,
      roots: undefined,
    }
    const rest = Object.fromEntries(Object.keys(less).map((name) => [name, undefined]))
    for (const plan of plans) expect(await problems(plan, { context: rest as never }), plan.name).toEqual([])
    expect(await problems(creation, { context: { allowance: 1_015_002n }, before: [] })).toEqual([])
    const unasked = { amount: undefined }
    expect(await problems(withdrawal, { request: unasked })).toEqual([])
    expect(await problems(claim, { request: unasked })).toEqual([])
    const toAdmin = { ...terms, to: admin }
    expect(await problems(withdrawal, { request: { to: null }, data: await withdrawData(toAdmin) })).toEqual([])
  })

  it.each([
    ['budget', { amount: 1_000_002n }, ['the budget is 1000002, not 1000001']],
    ['fee', { fee: 15_002n }, ['the fee is 15002, above 15001']],
    ['token', { token: treasury }, ['the stream pays another token']],
    ['id', { streamId: `0x${'7'.repeat(32)}` as const }, ['the stream has another id']],
    ['deadline', { deadline: deadline + 1 }, ['the signature is good for longer than was asked for']],
    ['signer', { by: nobody }, ['no verifier that is known signed this call for this wallet']],
    ['wallet', { user: treasury }, ['no verifier that is known signed this call for this wallet']],
    ['chain', { chainId: 1 }, ['no verifier that is known signed this call for this wallet']],
  ])('refuses a creation of another %s', async (_what, change, said) => {
    const { amount, fee } = { ...terms, ...change }
    const before = [
      { type: 'approve', transaction: { to: token, data: approveData(factory, amount + fee), value: '0', chainId } },
    ]
    expect(await problems(creation, { data: await createData({ ...terms, ...change }), before })).toEqual(said)
  })

  it('takes the fee of 1.5 %, rounded up, where nothing else is said, and none above', async () => {
    const context = { feeMax: undefined as never, verifiers: undefined as never, allowance: 10n ** 18n }
    const of = async (amount: bigint, fee: bigint) =>
      problems(creation, {
        ...{ context, request: { amount: String(amount) }, before: [] },
        data: await createData({ ...terms, amount, fee }),
      })
    // 15,000.015 and 1.5 of a hundred.
    expect([await of(1_000_001n, 15_001n), await of(100n, 2n), await of(200n, 0n)]).toEqual([[], [], []])
    expect(await of(1_000_001n, 15_002n)).toEqual(['the fee is 15002, above 15001'])
    expect(await of(200n, 4n)).toEqual(['the fee is 4, above 3'])
  })

  it('refuses an increase of another stream or amount, and what comes before it where that is another approval', async () => {
    expect(await problems(increase, { data: await addData({ ...terms, stream: treasury }) })).toEqual([
      'the budget is of another stream',
    ])
    expect(await problems(increase, { data: await addData({ ...terms, amount: 1n, fee: 0n }) })).toEqual([
      'the budget is 1, not 1000001',
      'what comes before the last transaction is not what this needs, and nothing else',
    ])
    const more = {
      ...increase.transactions[1]!,
      transaction: { ...increase.transactions[1]!.transaction, data: approveData(factory, 2n ** 256n - 1n) },
    }
    for (const before of [[], [more], increase.transactions.slice(0, 1), increase.transactions.slice(1, 2)])
      expect(await problems(increase, { before })).toEqual([
        'what comes before the last transaction is not what this needs, and nothing else',
      ])
  })

  it.each([
    ['from another stream', { stream: treasury }, 'the withdrawal is from another stream'],
    ['to somebody else', { to: admin }, 'the withdrawal goes to somebody else'],
    ['of another amount', { amount: 1n }, 'the withdrawal is of 1, not 1000001'],
    ['of nothing', { amount: 0n }, 'the withdrawal is of 0, not 1000001'],
    ['that another signed', { by: nobody }, 'no verifier that is known signed this call for this wallet'],
  ])('refuses a withdrawal %s', async (_what, change, said) => {
    expect(await problems(withdrawal, { data: await withdrawData({ ...terms, ...change }) })).toEqual([said])
  })

  it('refuses a withdrawal or claim of nothing where no amount was asked for', async () => {
    const request = { amount: null }
    const nothing = await withdrawData({ ...terms, amount: 0n })
    expect(await problems(withdrawal, { data: nothing, request })).toEqual(['the withdrawal is of 0'])
    expect(await problems(claim, { data: claimData(0n), request, context: { roots: undefined as never } })).toEqual([
      'the claim is of 0',
    ])
  })

  it('refuses a claim whose proof leads to no root that the stream holds, or to one of another time', async () => {
    const said = ['the proof leads to no root that the stream holds']
    expect(await problems(claim, { data: claimData(1_000_001n, undefined, siblings.slice(0, 1)) })).toEqual(said)
    expect(await problems(claim, { data: claimData(1_000_001n, 1) })).toEqual(said)
    expect(await problems(claim, { context: { roots: [] } })).toEqual(said)
    expect(await problems(claim, { data: claimData(2n) })).toEqual(['the claim is of 2, not 1000001', ...said])
    const roots = [{ root: `0x${'0'.repeat(64)}`, timestamp: 0 }, ...claim.context.roots!]
    expect(await problems(claim, { context: { roots } })).toEqual([])
    // Somebody else's leaf.
    expect(
      await problems(claim, { context: { roots: [{ root: rootOf(treasury, 1_000_001n), timestamp: 1_799_000_000 }] } }),
    ).toEqual(said)
  })

  it('refuses another contract, native tokens, gas beyond its bounds, another chain and another call', async () => {
    for (const plan of plans) {
      const main = plan.transactions.at(-1)!
      const of = async (change: object) => {
        const changed = { ...main, transaction: { ...main.transaction, ...change } }
        return (await verifyStream(plan.request, [...plan.transactions.slice(0, -1), changed], plan.context)).problems
      }
      const at = plan.transactions.length
      expect(await of({ to: treasury })).toEqual(['the last transaction calls another contract'])
      expect(await of({ value: '1' })).toEqual(['the last transaction sends native tokens'])
      expect(await of({ chainId: 1 })).toEqual([`transaction ${at}: is for chain 1, not ${chainId}`])
      expect(await of({ gasLimit: '20999' })).toEqual([`transaction ${at}: has a gas limit of 20999, below 21000`])
      expect(await of({ gasLimit: '30000001' })).toEqual([
        `transaction ${at}: has a gas limit of 30000001, above 30000000`,
      ])
      for (const data of ['0x', `${main.transaction.data}00`, approveData(treasury, 1n)])
        expect(await of({ data })).toEqual([
          `the last transaction is not the call of ${plan.request.type} that was asked for`,
        ])
    }
  })

  it('refuses a signature that is good and of another form than the factory takes', async () => {
    const { data } = creation.transactions.at(-1)!.transaction
    // r, s and v stand at the end, filled up to three words.
    const at = data.length - 192
    const [r, s, v] = [data.slice(at, at + 64), data.slice(at + 64, at + 128), data.slice(at + 128, at + 130)]
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const high = (order - BigInt(`0x${s}`)).toString(16).padStart(64, '0')
    const write = (tail: string) => data.slice(0, at) + tail.padEnd(192, '0')
    expect(write(r + s + v)).toBe(data)
    const flipped = v === '1b' ? '1c' : '1b'
    for (const tail of [r + high + flipped, r + s + (v === '1b' ? '00' : '01'), '0'.repeat(130)])
      expect(await problems(creation, { data: write(tail) })).toEqual([
        'no verifier that is known signed this call for this wallet',
      ])
  })

  it('complains of a request and a context that are none, and gives a verdict whatever it is given', async () => {
    const asked = (request: unknown) => verifyStream(request as never, creation.transactions, creation.context)
    expect((await asked({ type: 'fund' })).problems).toEqual(['a request of the type fund cannot be verified'])
    expect((await asked({ ...creation.request, amount: '0' })).problems).toEqual(['amount is no amount above 0'])
    expect((await asked({ ...creation.request, amount: undefined })).problems).toEqual(['amount is no amount above 0'])
    expect((await asked({ ...creation.request, rewardToken: 'x' })).problems).toEqual(['rewardToken: x is no address'])
    const contexts: [StreamPlan, object, string][] = [
      [creation, { factory: undefined }, 'factory: undefined is no address'],
      [withdrawal, { stream: undefined }, 'stream: undefined is no address'],
      [claim, { stream: 'x' }, 'stream: x is no address'],
      [creation, { streamId: 'x' }, 'streamId is no id'],
      [creation, { deadlineMax: 0.5 }, 'deadlineMax is no whole number of seconds'],
      [creation, { chainId: 0 }, 'chainId: 0 is no chain'],
      [creation, { verifiers: ['x'] }, 'verifiers is no list of such'],
      [claim, { roots: [{ root: '0x', timestamp: 1 }] }, 'roots is no list of such'],
      [claim, { roots: 'x' }, 'roots is no list of such'],
      [creation, { feeMax: 'x' }, 'feeMax is no amount'],
    ]
    for (const [plan, context, said] of contexts)
      expect(
        (await verifyStream(plan.request, plan.transactions, { ...plan.context, ...context } as never)).problems,
      ).toEqual([said])
    for (const junk of [
      undefined,
      null,
      7,
      '',
      [],
      {},
      { type: 'claim' },
      [null],
      [{ type: 'claim', transaction: {} }],
    ])
      for (const words of [
        [junk, claim.transactions, claim.context],
        [claim.request, junk, claim.context],
        [claim.request, claim.transactions, junk],
      ] as never[][])
        expect(await (verifyStream as (...given: never[]) => Promise<unknown>)(...words)).toMatchObject({
          ok: false,
          sentences: [],
        })
    const trap = new Proxy(
      {},
      {
        get: () => {
          throw new Error('trap')
        },
        getOwnPropertyDescriptor: () => {
          throw new Error('trap')
        },
      },
    )
    expect((await verifyStream(trap as never, claim.transactions, claim.context)).ok).toBe(false)
    expect(verifier.address).toMatch(/^0x/)
  })
})
