import { type Address, erc20Abi, type Hex, maxUint256, type PrivateKeyAccount } from 'viem'
import { account } from '../../../contracts/test/anvil.js'
import { until } from '../../../contracts/test/until.js'
import { OutboundError } from '../../src/kernel/outbound.js'
import { openSwapWorldWith } from '../chain/swapWorld.js'
import type { Answer } from '../harness.js'
import type { Random } from './random.js'

const ether = 10n ** 18n
const usd = 10n ** 6n
/** How often something is asked again of a busy machine: a cut connection is tried again after 5 s. */
const looks = 3_000

export type LifeWorld = Awaited<ReturnType<typeof openLifeWorld>>

/** What is planned: swaps through an exchange, which has a deadline, a wrap, which has none, and a deposit. */
const planKinds = ['buy', 'sell', 'wrap', 'deposit'] as const
type PlanKind = (typeof planKinds)[number]

/** What a user does with a plan, one step a block. */
export const stories = {
  sent: ['send'],
  late: ['outwait', 'send'],
  reverted: ['revert'],
  'reverted, then sent': ['revert', 'wait', 'send'],
  'replaced by itself': ['send and raise'],
  'replaced by another': ['send and replace'],
  dropped: ['send and drop'],
  'dropped, then sent': ['send and drop', 'wait', 'send'],
  reorganised: ['send', 'wait', 'reorganise'],
  'reorganised, then sent': ['send', 'reorganise', 'wait', 'send'],
  'reverted, reorganised': ['revert', 'wait', 'reorganise'],
  'never sent': ['wait'],
} as const satisfies Record<string, readonly Step[]>
export type Story = keyof typeof stories

type Step =
  | 'send'
  | 'revert'
  | 'send and raise'
  | 'send and replace'
  | 'send and drop'
  | 'reorganise'
  | 'wait'
  | 'outwait'

/** One plan, what is left to be done with it, and the transactions that carried it. */
export type Life = {
  story: Story
  kind: PlanKind
  user: PrivateKeyAccount
  plan: Answer
  left: Step[]
  sent: Hex[]
  /** The user's app tells of what it sent. */
  tells: boolean
  isTold: boolean
}

/** A chain with an exchange and a vault whose blocks are mined by hand; both clocks go together. */
export async function openLifeWorld({ scanInputs }: { scanInputs: boolean }) {
  const opened = await openSwapWorldWith({ chain: { scanInputs } }, { pegUsd: '1' })
  const { world, exchange, weth } = opened
  const [token] = opened.tokens
  await exchange.v2Pool(weth, token, 1_000n * ether, 2_000_000n * usd)
  const vault = await world.vault(token)
  const users = [1, 2, 3, 4, 5, 6, 7].map(account)
  for (const user of users) {
    await world.join(user.address)
    await world.mint(token, user.address, 1_000_000n * usd)
    for (const spender of [exchange.v2.router, vault.address])
      await world.write(token, erc20Abi, 'approve', [spender, maxUint256], user)
  }
  const { client } = world.anvil
  await client.setNextBlockTimestamp({ timestamp: BigInt(world.earn.clock.now().getTime()) / 1_000n })
  await client.mine({ blocks: 1 })
  await world.sync()
  await client.setAutomine(false)

  const plans: Record<PlanKind, (user: PrivateKeyAccount) => Promise<Answer>> = {
    buy: ({ address: user }) => swap({ user, tokenIn: 'native', tokenOut: token, amountIn: String(ether / 100n) }),
    sell: ({ address: user }) => swap({ user, tokenIn: token, tokenOut: 'native', amountIn: String(usd) }),
    wrap: ({ address: user }) => swap({ user, tokenIn: 'native', tokenOut: weth, amountIn: String(ether / 100n) }),
    deposit: ({ address: userAddress }) =>
      call('CreateDepositInteraction', {
        params: { opportunityId: vault.opportunityId },
        body: { userAddress, tokenIn: token, amount: String(usd), distributorId: world.distributorId },
      }),
  }
  const swap = (query: Record<string, string>) => opened.swap({ ...query, slippageBps: 1_000 })
  const call = (...asked: Parameters<typeof world.earn.call>) => askAgain(() => world.earn.call(...asked))

  /** Sends the plan's one transaction, and does not wait for it. */
  const send = async (life: Life, change: { gas?: bigint; value?: bigint; nonce?: number; fee?: bigint } = {}) => {
    const transactions = life.plan.body.transactions as { transaction: { to: Address; data: Hex; value: string } }[]
    const { to, data, value } = transactions[0]!.transaction
    const signed = await life.user.signTransaction({
      ...{ to, data, value: change.value ?? BigInt(value), gas: change.gas ?? 500_000n, chainId: world.chainId },
      ...{ maxFeePerGas: (change.fee ?? 10n) * 10n ** 9n, maxPriorityFeePerGas: (change.fee ?? 10n) * 10n ** 8n },
      ...{ type: 'eip1559', nonce: change.nonce ?? (await nonceOf(life.user)) },
    })
    const hash = await client.sendRawTransaction({ serializedTransaction: signed })
    life.sent.push(hash)
    signedOnes.set(hash, signed)
    return hash
  }
  const signedOnes = new Map<Hex, Hex>()
  /** What was mined and is in no block any more goes back to where it waits, as nodes do it. */
  const resend = async (hash: Hex) => {
    const signed = signedOnes.get(hash)
    if (!signed || (await findTruth(hash)) !== 'unknown') return
    await client.sendRawTransaction({ serializedTransaction: signed }).catch((error: unknown) => {
      if (!(error instanceof Error && /nonce too low|already imported|underpriced/i.test(error.message))) throw error
    })
  }
  const nonceOf = (user: PrivateKeyAccount) =>
    client.getTransactionCount({ address: user.address, blockTag: 'pending' })
  /** Too little gas, or no value where the exchange wants some. */
  const badly = (kind: PlanKind) => (kind === 'buy' ? { value: 0n } : { gas: kind === 'wrap' ? 32_000n : 60_000n })

  const steps: Record<Step, (life: Life, random: Random) => Promise<unknown>> = {
    wait: async () => undefined,
    outwait: async () => undefined,
    send: (life) => send(life),
    revert: (life) => send(life, badly(life.kind)),
    'send and raise': async (life) => {
      const nonce = await nonceOf(life.user)
      await send(life, { nonce })
      await send(life, { nonce, fee: 20n })
    },
    'send and replace': async (life) => {
      const nonce = await nonceOf(life.user)
      await send(life, { nonce })
      const { user } = life
      const fees = { maxFeePerGas: 20n * 10n ** 9n, maxPriorityFeePerGas: 2n * 10n ** 9n }
      await client.sendTransaction({ account: user, to: user.address, value: 0n, gas: 21_000n, nonce, ...fees })
    },
    'send and drop': async (life) => client.dropTransaction({ hash: await send(life) }),
    reorganise: async (life, random) => {
      const mined: Hex[] = []
      for (const other of lives)
        for (const hash of other === life ? [] : other.sent)
          if (['success', 'reverted'].includes(await findTruth(hash))) mined.push(hash)
      await client.request({ method: 'anvil_reorg', params: [random.int(1, 3), []] } as never)
      for (const hash of mined) if (random.chance(0.9)) await resend(hash)
    },
  }

  const lives: Life[] = []
  return {
    ...opened,
    users,
    /** A plan and a story for it. */
    begin: async (user: PrivateKeyAccount, story: Story, random: Random): Promise<Life> => {
      const kind = random.pick(planKinds)
      const plan = await askAgain(() => plans[kind](user))
      if (plan.status !== 200) throw new Error(`no plan: ${plan.text}`)
      const left: Step[] = [...stories[story]]
      const life = { story, kind, user, plan, left, sent: [], tells: random.chance(0.3), isTold: false }
      lives.push(life)
      return life
    },
    /** Takes the next step of a life; one that waits for its time to be over waits. */
    step: async (life: Life, random: Random): Promise<void> => {
      const [next] = life.left
      if (next === 'outwait' && world.earn.clock.now() <= new Date(life.plan.body.validUntil)) return
      life.left.shift()
      if (next) await steps[next](life, random)
    },
    /** Mines a block so much later, and lets the watcher see it. */
    mine: async (seconds: number): Promise<void> => {
      world.earn.clock.advance(seconds * 1_000)
      const { timestamp } = await client.getBlock()
      const now = BigInt(world.earn.clock.now().getTime()) / 1_000n
      await client.setNextBlockTimestamp({ timestamp: now > timestamp ? now : timestamp + 1n })
      await client.mine({ blocks: 1 })
      await syncAgain()
    },
    tell: async (life: Life, txHash: Hex): Promise<void> => {
      const { actionId } = life.plan.body
      await call('ReportSwapExecution', { body: { actionId, chainId: world.chainId, txHash } })
    },
    statusOf: async (life: Life): Promise<string> =>
      (await call('GetAction', { params: { actionId: life.plan.body.actionId } })).body.status,
    /** What the chain itself says of the transactions of a life. */
    truthOf: async ({ sent }: Life): Promise<Truth> => {
      const found = await Promise.all(sent.map((hash) => findTruth(hash)))
      return {
        isMined: found.includes('success'),
        isReverted: found.includes('reverted'),
        isKnown: found.includes('known'),
      }
    },
  }

  /** As the watcher of the service does it: a node that is late is asked again. */
  async function syncAgain(): Promise<void> {
    const follow = () =>
      world.sync().then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof OutboundError)) throw error
          return false
        },
      )
    await until('the node to answer the watcher', follow, looks)
  }

  async function findTruth(hash: Hex): Promise<'success' | 'reverted' | 'known' | 'unknown'> {
    const ask = (method: string) =>
      client.request({ method, params: [hash] } as never) as Promise<{ status?: Hex; blockHash?: Hex | null } | null>
    const receipt = await ask('eth_getTransactionReceipt')
    if (receipt) return receipt.status === '0x1' ? 'success' : 'reverted'
    return (await ask('eth_getTransactionByHash')) ? 'known' : 'unknown'
  }
}

/** As an app does it: what is answered 503 because the node is late is asked again. */
async function askAgain(ask: () => Promise<Answer>): Promise<Answer> {
  return until(
    'an answer that is not 503',
    async () => {
      const answer = await ask()
      return answer.status === 503 ? undefined : answer
    },
    looks,
  )
}

export type Truth = { isMined: boolean; isReverted: boolean; isKnown: boolean }
