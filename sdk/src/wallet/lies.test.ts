import { describe, expect, it } from 'vitest'
import { asset, buildPlan, facts, openModel, opportunityId, toBatch, vault, wallet } from '../../test/flowModel.js'
import { below, createRandom, pick, type Random } from '../../test/random.js'
import { createEarnClient, type Trust } from '../client/index.js'
import { advance, beginDeposit, type Flow, isLast, type PlanFlow, type World } from '../flows/index.js'

/** How many services lie, and how many stored flows are forged. */
const count = Number(process.env['LIES'] ?? 300)
const attacker = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const attackerKey = '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a'
const trust: Trust = { version: 1, chains: [facts] }

type Plan = ReturnType<typeof buildPlan>

/** A wallet that would send all that reaches it, and what reached it. */
function openWallet(random: Random) {
  const model = openModel({ random })
  const reached = () => model.asked.filter(({ method }) => /^(eth_send|wallet_send|personal_|eth_sign)/.test(method))
  return { model, reached }
}

const open = (plan: unknown, from: Trust | undefined, context: unknown = facts): Pick<World, 'earn'> => ({
  earn: createEarnClient({
    baseUrl: 'https://earn.example',
    retries: 0,
    trust: from,
    fetch: async (input) => {
      const { pathname } = new URL(String(input))
      const isPlan = pathname.startsWith('/v2/actions/deposit/')
      const isContext = pathname.startsWith('/v2/verification')
      return new Response(JSON.stringify(isPlan ? plan : isContext ? context : { id: opportunityId, chainId: 31_337 }))
    },
  }),
})

const params = {
  opportunityId,
  userAddress: wallet,
  tokenIn: asset,
  amount: 1_000_000n,
  distributorId: 'acme',
} as const

/** Advances a flow as far as it goes with a user who says yes to all. */
async function insist(flow: Flow, world: World): Promise<Flow> {
  let at = flow
  for (let step = 0; step < 12 && !isLast(at) && at.status !== 'sent'; step++)
    at = await advance(at, world, at.needs ?? 'go')
  return at
}

const lies: readonly ((random: Random) => Parameters<typeof buildPlan>[0])[] = [
  () => ({ name: 'own vault, own signer', to: attacker, key: attackerKey }),
  () => ({ name: 'own vault', to: attacker }),
  () => ({ name: 'own signer', key: attackerKey }),
  () => ({ name: 'own spender', spender: attacker }),
  () => ({ name: 'own receiver', receiver: attacker }),
  () => ({ name: 'own receiver and spender', receiver: attacker, spender: attacker }),
  () => ({ name: 'another token', token: vault }),
  (random) => ({ name: 'another amount', assets: BigInt(1 + below(random, 999_999)) }),
  () => ({ name: 'all there is', assets: 2n ** 256n - 1n }),
  () => ({ name: 'another distributor', code: 'thief' }),
]

/** Changes a plan and says the same of its batch. */
function twist(plan: Plan, random: Random): Plan {
  const twisted = structuredClone(plan)
  const { transactions } = twisted
  const victim = pick(random, transactions)
  const way = below(random, 6)
  if (way === 0) transactions.push(structuredClone(victim))
  if (way === 1) transactions.unshift({ ...structuredClone(victim), type: 'approve' })
  if (way === 2) victim.transaction.value = '1'
  if (way === 3) victim.transaction.chainId = 1
  if (way === 4)
    victim.transaction.data = `0x${victim.transaction.data.slice(2, -1)}${victim.transaction.data.endsWith('0') ? '1' : '0'}`
  if (way === 5) Object.assign(victim.transaction, { gas: '0x1', authorizationList: [] })
  return below(random, 2) ? { ...twisted, batch: toBatch(transactions) } : twisted
}

describe('a service that lies', () => {
  it('alike in its catalogue, its facts and its plans reaches no wallet where the facts come from a file', async () => {
    for (let n = 0; n < count; n++) {
      const random = createRandom(n + 1)
      const { model, reached } = openWallet(random)
      const lie = pick(random, lies)(random)
      const plan = below(random, 2) ? buildPlan(lie) : twist(buildPlan({ name: 'honest' }), random)
      const own = {
        ...facts,
        signers: [attacker],
        vaults: [{ ...facts.vaults[0]!, address: attacker as `0x${string}` }],
      }
      const world = { ...open(plan, trust, own), provider: { request: model.request as never } }
      const end = await insist(beginDeposit(params), world)
      expect([end.status, end.problem?.code], lie.name).toEqual(['refused', 'NOT_AS_ASKED'])
      expect(reached(), lie.name).toEqual([])
    }
  }, 120_000)

  it('is told from an honest one, whose plan reaches it with and without a file', async () => {
    for (const from of [trust, undefined]) {
      const { model, reached } = openWallet(createRandom(1))
      const world = { ...open(buildPlan({ name: 'honest' }), from), provider: { request: model.request as never } }
      const end = (await insist(beginDeposit(params), world)) as PlanFlow
      expect([end.status, end.trusts, reached().length]).toEqual(['sent', from ? 'file' : 'service', 1])
    }
  })

  it('about the decimals of a token is found out by its reader: the token itself is asked, and 100 for 1 is shown', async () => {
    const { model } = openWallet(createRandom(1))
    const world = {
      ...open(buildPlan({ name: 'honest', assets: 100_000_000n }), trust),
      provider: { request: model.request as never },
    }
    let at: Flow = beginDeposit({ ...params, amount: 100_000_000n })
    for (let step = 0; step < 5 && !at.sentences; step++) at = await advance(at, world)
    expect(at.sentences?.at(-1)).toContain('Deposit 100 (100000000 units) of')
  })

  it('names a vault that takes another token than it says: the vault itself is asked', async () => {
    const { model, reached } = openWallet(createRandom(1))
    const own = { ...facts, vaults: [{ ...facts.vaults[0]!, asset: attacker as `0x${string}` }] }
    const plan = buildPlan({ name: 'other asset', token: attacker })
    const world = { ...open(plan, undefined, own), provider: { request: model.request as never } }
    const end = await insist(beginDeposit({ ...params, tokenIn: attacker }), world)
    expect([end.status, end.problem?.text]).toEqual(['refused', expect.stringContaining('takes')])
    expect(reached()).toEqual([])
  })

  it('is asked for no plan where the file lacks the chain or the opportunity, or is of another version', async () => {
    const { model, reached } = openWallet(createRandom(1))
    for (const from of [
      { version: 1, chains: [] },
      { version: 1, chains: [{ ...facts, vaults: [] }] },
      { version: 2, chains: [facts] },
    ] as const) {
      const world = { ...open(buildPlan({ name: 'honest' }), from), provider: { request: model.request as never } }
      expect(await insist(beginDeposit(params), world)).toMatchObject({
        status: 'refused',
        problem: { code: 'NOT_TRUSTED' },
      })
    }
    expect(reached()).toEqual([])
  })
})

describe('a stored flow', () => {
  const ready = async () => {
    const { model } = openWallet(createRandom(1))
    const world = { ...open(buildPlan({ name: 'honest' }), trust), provider: { request: model.request as never } }
    return advance(beginDeposit(params), world)
  }
  const stored = (flow: Flow): PlanFlow => JSON.parse(JSON.stringify(flow))

  it('asks the wallet for nothing without a word of the user, whatever it says of itself', async () => {
    const { model, reached } = openWallet(createRandom(1))
    const world = { ...open(buildPlan({ name: 'honest' }), trust), provider: { request: model.request as never } }
    const flow = stored(await ready())
    for (const change of [
      {},
      { needs: undefined },
      { status: 'asking', asked: { position: 0, at: 0 } },
      { trusts: 'file', verified: true },
    ]) {
      let at: Flow = { ...flow, ...change } as Flow
      for (let step = 0; step < 6; step++) at = await advance(at, world)
      expect(reached()).toEqual([])
    }
    expect((await insist(flow, world)).status).toBe('sent')
  })

  it('that is forged reaches no wallet with anything but the plan of its own request', async () => {
    const honest = stored(await ready())
    for (let n = 0; n < count; n++) {
      const random = createRandom(n + 1)
      const { model, reached } = openWallet(random)
      const world = { ...open(buildPlan({ name: 'honest' }), trust), provider: { request: model.request as never } }
      const lie = buildPlan(pick(random, lies)(random))
      const plan = below(random, 2) ? lie : twist(buildPlan({ name: 'honest' }), random)
      const fee = `0x${(10n ** 15n).toString(16)}`
      const forged: PlanFlow = {
        ...structuredClone(honest),
        plan: { ...honest.plan!, ...plan } as never,
        status: pick(random, ['ready', 'asking', 'unknown', 'sent'] as const),
        needs: [undefined, 'go' as const, 'confirm' as const, 'again' as const][below(random, 4)],
        position: below(random, 3),
        asked: {
          position: below(random, 3),
          at: 0,
          place: { nonce: '0x5', maxFeePerGas: fee, maxPriorityFeePerGas: fee },
        },
        sentences: ['Nothing happens.'],
        trusts: 'file',
        before: ['Nothing happens.'],
      }
      await insist(forged, world).catch(() => undefined)
      // A plan that went stale is built anew, and the honest one may be asked for.
      const wanted = buildPlan({ name: 'honest' }).transactions.map(({ transaction }) => transaction.data)
      for (const { params: asked } of reached()) {
        const [request] = asked as [{ data: string; maxFeePerGas?: string }]
        expect(wanted, JSON.stringify(forged.status)).toContain(request.data)
        expect(request.maxFeePerGas).not.toBe(fee)
      }
    }
  }, 120_000)

  it.each([
    ...[null, 7, 'x', [], {}, { version: 2 }],
    ...[{ kind: 'steal' }, { wallet: 'me' }, { chainId: '1' }, { actionIds: [1] }, { position: -1 }].map((change) => ({
      ...{ version: 1, id: 'x', kind: 'deposit', status: 'ready', wallet, chainId: 1 },
      ...change,
    })),
  ])('that is none is refused: %j', async (value) => {
    const { model } = openWallet(createRandom(1))
    const world = { ...open({}, trust), provider: { request: model.request as never } }
    await expect(advance(value as never, world)).rejects.toThrow(TypeError)
  })
})
