import type { VerificationContext } from '../client/generated/types.js'
import type { PlanContext, PlannedTransaction, PlanRequest, SwapContext, SwapRequest } from '../verify/types.js'
import type { PlannedBatch } from '../verify/verifyBatch.js'
import type { Provider } from './provider.js'
import {
  type Confirm,
  halfBps,
  isNative,
  isSlippage,
  quoteBest,
  read,
  readAddress,
  readDecimals,
  shareOf,
  tellSlippage,
  toleranceBps,
} from './reads.js'
import { findFacts, nowOf, readTime, type Trusts, type World } from './world.js'

/** A request for a plan, as the verifier takes it, with the place it is for. */
export type Asked = (PlanRequest | SwapRequest) & {
  chainId: number
  opportunityId?: string
  slippageBps?: number
  deadlineSeconds?: number
}

/** An answer of the service, as it came. */
export type Plan = {
  actionId: string
  transactions: readonly PlannedTransaction[]
  batch: PlannedBatch
}

/**
 * The verdict about a plan. `confirm`: the least amount is below an own quote, or there is no quote: the user has to read the
 * sentences and say yes.
 */
export type Checked = {
  ok: boolean
  problems: string[]
  sentences: string[]
  trusts: Trusts
  confirm: Confirm | undefined
}

/**
 * Compares a plan with the request, by the facts of `trust`, and by the wallet's own view of the chain: the allowance, the
 * vault's asset, and a quote for each least amount. `from`: the first transaction that is not mined yet.
 */
export async function checkPlan(world: World, asked: Asked, plan: Plan, from: number): Promise<Checked> {
  const { verifyBatch, verifyPlan } = await import('../verify/index.js')
  const { facts, trusts } = await findFacts(world, asked.chainId)
  const no = (problems: string[]): Checked => ({ ok: false, problems, sentences: [], trusts, confirm: undefined })
  const vault =
    asked.type === 'swap' ? undefined : facts.vaults.find((each) => each.opportunityId === asked.opportunityId)
  if (asked.type !== 'swap' && !vault) return no([`the opportunity ${asked.opportunityId} is not in ${nameOf(trusts)}`])
  const { slippageBps = 50 } = asked
  if (!isSlippage(slippageBps)) return no([tellSlippage(slippageBps)])
  const { provider } = world
  const problem = vault && (await checkAsset(provider, vault))
  if (problem) return no([problem])
  const context = await makeContext(world, asked, { plan, facts, vault, from })
  const quoted = await quotePlan(provider, asked, { plan, facts, vault })
  const user = asked.type === 'swap' ? asked.user : asked.userAddress
  const judge = async (share: number) => {
    const verdict = await verifyPlan(asked, plan.transactions, demand(context, quoted, share))
    const batch = verifyBatch(plan.batch, plan.transactions, user)
    return { ...verdict, ok: verdict.ok && batch.ok, problems: [...verdict.problems, ...batch.problems] }
  }
  const strict = await judge(10_000 - slippageBps - toleranceBps)
  if (strict.ok) return { ...strict, trusts, confirm: quoted === 'unknown' ? 'no-quote' : undefined }
  const loose = typeof quoted === 'object' ? await judge(halfBps) : strict
  return loose.ok ? { ...loose, trusts, confirm: 'below-quote' } : { ...no(strict.problems) }
}

const nameOf = (trusts: Trusts) => (trusts === 'file' ? 'the file of trust' : 'the facts of the service')

type Vault = VerificationContext['vaults'][number]

/** Kinds whose standard has `asset()`. */
const saysAsset = /^(erc4626|erc7540|lagoon|umbrella|maple)/

/** The vault itself says which token it takes. Others say it in their own ways, and what is told of them is believed. */
async function checkAsset(provider: Provider, { kind, address, asset }: Vault): Promise<string | undefined> {
  if (!saysAsset.test(kind)) return undefined
  const said = await readAddress(provider, address, 'asset()')
  if (!said) return `the vault ${address} does not say its asset`
  return said === asset.toLowerCase() ? undefined : `the vault ${address} takes ${said}, not ${asset}`
}

type About = { plan: Plan; facts: VerificationContext; vault: Vault | undefined }

async function makeContext(
  world: World,
  asked: Asked,
  { plan, facts, vault, from }: About & { from: number },
): Promise<PlanContext> {
  const { provider } = world
  const { chainId, signers, routers, depositRouter, wrappedNative, gasCap } = facts
  // Later allowances are what the plan itself made of them.
  const allowances = from === 0 ? await readAllowances(provider, asked, { plan, facts, vault }) : {}
  const isSwapping = findRouter(plan, facts) !== undefined
  const paid = isSwapping && vault ? await readPaid(provider, asked, vault, from) : undefined
  const swap: SwapContext = {
    routers,
    ...(usesRouter(plan, depositRouter) ? { wrappers: await readWrappers(provider, facts) } : {}),
    ...(allowances.router === undefined ? {} : { allowance: allowances.router }),
    ...(paid === undefined ? {} : { amountInMax: paid }),
    ...(isSwapping ? { deadlineMax: await readDeadlineMax(world, asked) } : {}),
  }
  const none = { address: '', kind: '', asset: '' }
  const { nameContracts } = await import('../verify/expected.js')
  const decimals = await readDecimals(provider, [...tokensOf(asked), vault?.asset, vault?.share, wrappedNative])
  return {
    ...{ chainId, signers, actionId: plan.actionId, swap, decimals },
    vault: vault
      ? {
          ...{ address: vault.address, kind: vault.kind, asset: vault.asset, receiptToken: vault.share },
          contracts: nameContracts(vault.kind, vault.contracts),
        }
      : none,
    ...(allowances.vault === undefined ? {} : { allowance: allowances.vault }),
    ...(wrappedNative === null ? {} : { wrappedNative }),
    ...(depositRouter === null ? {} : { depositRouter }),
    ...(gasCap === null ? {} : { gasCap }),
  }
}

/** The tokens that a request names. */
function tokensOf(asked: Asked): (string | undefined)[] {
  if (asked.type === 'swap') return [asked.tokenIn, asked.tokenOut]
  return [asked.type === 'deposit' ? asked.tokenIn : undefined, asked.type === 'withdraw' ? asked.tokenOut : undefined]
}

const usesRouter = ({ transactions }: Plan, router: string | null): boolean =>
  transactions.some(
    ({ type, transaction }) => type === 'swap' && transaction.to.toLowerCase() === router?.toLowerCase(),
  )

/** The router of a plan's swap, if it is one of those known. */
function findRouter({ transactions }: Plan, { routers }: VerificationContext): string | undefined {
  const targets = transactions
    .filter(({ type }) => type === 'swap')
    .map(({ transaction }) => transaction.to.toLowerCase())
  return routers.find(({ address }) => targets.includes(address.toLowerCase()))?.address
}

/** The allowances of the vault and of the router, where the wallet's tokens go to them. */
async function readAllowances(
  provider: Provider,
  asked: Asked,
  { plan, facts, vault }: About,
): Promise<{ vault?: bigint; router?: bigint }> {
  const router = findRouter(plan, facts)
  const allowance = async (token: string, owner: string, spender: string) =>
    (await read(provider, token, 'allowance(address,address)', owner, spender))?.[0]
  const found: { vault?: bigint; router?: bigint } = {}
  const keep = (name: 'vault' | 'router', value: bigint | undefined) => {
    if (value !== undefined) found[name] = value
  }
  if (asked.type === 'swap') {
    if (router && !isNative(asked.tokenIn)) keep('router', await allowance(asked.tokenIn, asked.user, router))
    return found
  }
  const { userAddress } = asked
  if (asked.type === 'deposit' && vault) {
    const isZap = asked.mode === 'swap' && router !== undefined
    const given = isZap ? vault.asset : isNative(asked.tokenIn) ? (facts.wrappedNative ?? vault.asset) : asked.tokenIn
    const spender = asked.protect ? facts.depositRouter : vault.address
    if (spender) keep('vault', await allowance(given, userAddress, spender))
    if (isZap && !isNative(asked.tokenIn)) keep('router', await allowance(asked.tokenIn, userAddress, router))
  }
  return found
}

/**
 * The most that a redemption pays: what is swapped after it may not be more of the wallet's token. A vault that settles later
 * tells what waits for the wallet, until that is redeemed; Lagoon also what it pays at once.
 */
async function readPaid(
  provider: Provider,
  asked: Asked,
  { kind, address, asset }: Vault,
  from: number,
): Promise<bigint | undefined> {
  if (asked.type !== 'withdraw') return undefined
  const { amount, userAddress } = asked
  const previewed =
    kind === 'erc5115'
      ? await read(provider, address, 'previewRedeem(address,uint256)', asset, amount)
      : await read(provider, address, 'previewRedeem(uint256)', amount)
  if (previewed || from > 0) return previewed?.[0]
  const [atOnce = [], waiting = []] = await Promise.all([
    read(provider, address, 'previewSyncRedeem(uint256)', amount),
    read(provider, address, 'maxWithdraw(address)', userAddress),
  ])
  const most = [...atOnce.slice(0, 1), ...waiting.slice(0, 1)].reduce((a, b) => (a > b ? a : b), 0n)
  return most > 0n ? most : undefined
}

/** A plan lives ten minutes unless another time was asked for, and clocks differ by an hour at most. */
async function readDeadlineMax(world: World, { deadlineSeconds = 600 }: Asked): Promise<bigint> {
  const now = Math.max(nowOf(world), await readTime(world))
  return BigInt(Math.floor(now / 1_000) + deadlineSeconds + 3_700)
}

/** The wrappers of a chain, with what each says it wraps. One that says nothing is left out. */
async function readWrappers(provider: Provider, { wrappers }: VerificationContext) {
  const kinds = { erc4626: 'asset()', wsteth: 'stETH()', 'static-a-token': 'aToken()' } as const
  const found = await Promise.all(
    wrappers.flatMap((address) =>
      Object.entries(kinds).map(async ([kind, name]) => {
        const asset = await readAddress(provider, address, name)
        return asset === undefined ? [] : [{ address, asset, kind }]
      }),
    ),
  )
  return found.flat()
}

/** Own quotes of the least amounts; `unknown`: a quote is needed, and there is nobody to ask. */
type Quoted = { swap?: bigint; vault?: bigint } | 'unknown' | undefined

async function quotePlan(provider: Provider, asked: Asked, { plan, facts, vault }: About): Promise<Quoted> {
  const router = findRouter(plan, facts)
  if (asked.type === 'swap')
    return router ? quoteSwap(provider, facts, asked.tokenIn, asked.tokenOut, BigInt(asked.amountIn)) : undefined
  if (!vault) return undefined
  if (asked.type === 'deposit') {
    if (router && asked.mode === 'swap')
      return quoteSwap(provider, facts, asked.tokenIn, vault.asset, BigInt(asked.amount))
    const token = isNative(asked.tokenIn) ? (facts.wrappedNative ?? '') : asked.tokenIn
    if (vault.kind === 'erc5115')
      return quoteVault(await read(provider, vault.address, 'previewDeposit(address,uint256)', token, asked.amount))
    return asked.protect
      ? quoteVault(await read(provider, vault.address, 'previewDeposit(uint256)', asked.amount))
      : undefined
  }
  if (asked.type !== 'withdraw') return undefined
  const out = asked.tokenOut ?? vault.asset
  if (router) {
    const assets = (await read(provider, vault.address, 'previewRedeem(uint256)', asked.amount))?.[0]
    return assets === undefined ? 'unknown' : quoteSwap(provider, facts, vault.asset, out, (assets * 9_999n) / 10_000n)
  }
  if (vault.kind === 'erc5115')
    return quoteVault(await read(provider, vault.address, 'previewRedeem(address,uint256)', out, asked.amount))
  // One that pays at once says so; a request has no least amount.
  const atOnce =
    vault.kind === 'lagoon' && (await read(provider, vault.address, 'previewSyncRedeem(uint256)', asked.amount))
  return atOnce ? quoteVault(atOnce) : undefined
}

const quoteVault = (words: bigint[] | undefined): Quoted => (words?.[0] === undefined ? 'unknown' : { vault: words[0] })

async function quoteSwap(
  provider: Provider,
  { quoter, routers, wrappedNative }: VerificationContext,
  tokenIn: string,
  tokenOut: string,
  amount: bigint,
): Promise<Quoted> {
  const [from, to] = [tokenIn, tokenOut].map((token) => (isNative(token) ? wrappedNative : token))
  if (!from || !to) return 'unknown'
  const v2 = routers.find(({ kind }) => kind === 'uniswap-v2')?.address
  const swap = await quoteBest(provider, { quoter, v2, hub: wrappedNative }, { from, to, amount })
  return swap === undefined ? 'unknown' : { swap }
}

/** The same context, asking for a share of the own quotes, in hundredths of a percent. */
function demand(context: PlanContext, quoted: Quoted, share: number): PlanContext {
  if (quoted === undefined || quoted === 'unknown') return context
  const of = (amount: bigint) => shareOf(amount, share)
  return {
    ...context,
    ...(quoted.vault === undefined ? {} : { minimumOut: of(quoted.vault) }),
    ...(quoted.swap === undefined || !context.swap ? {} : { swap: { ...context.swap, minimumOut: of(quoted.swap) } }),
  }
}
