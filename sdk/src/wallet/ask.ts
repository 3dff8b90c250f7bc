import type { BuiltSwapOrder } from '../client/generated/types.js'
import type { PlannedTransaction } from '../verify/types.js'
import type { SwapOrderRequest } from '../verify/verifySwapOrder.js'
import { type ClaimAsked, checkClaim } from './checkClaim.js'
import { type Asked, checkPlan, type Plan } from './checkPlan.js'
import { ask, type Handed, type Provider, readFailure } from './provider.js'
import { type Confirm, readDecimals } from './reads.js'
import { findFacts, nowOf, readTime, type World } from './world.js'

/**
 * The only module that asks a wallet for anything. It asks for six things: a transaction or batch of a plan, a claim, an order
 * and its cancellation, a membership text, the accounts, and a switch to a chain that the wallet has. Each function checks
 * what it hands on in the same call, from a copy that nobody else holds; nothing skips the check.
 */

/** Something that would have been asked for is not what was wanted; the wallet has seen nothing of it. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** The wallet is not there where it has to be; nothing was asked. */
export class NotReady extends Error {
  override readonly name = 'NotReady'
  readonly reason: 'account' | 'chain'
  constructor(reason: 'account' | 'chain', message: string) {
    super(message)
    this.reason = reason
  }
}

/** The least amount has to be confirmed first, by a word about what is known of it now; nothing was asked. */
export class NeedsConfirm extends Error {
  override readonly name = 'NeedsConfirm'
  readonly confirm: Confirm
  constructor(confirm: Confirm) {
    super('the least amount has to be confirmed')
    this.confirm = confirm
  }
}

/** The place of a transaction among those of its account. A request that says it again can be mined once only. */
export type Place = { nonce: string; maxFeePerGas?: string; maxPriorityFeePerGas?: string; gasPrice?: string }

/** A copy of something that came as JSON: getters, prototypes and later changes of the original have no part in it. */
const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/** The user said yes to a least amount that no own quote supports, and knew this about it. */
type Word = { confirmed: Confirm | undefined }

/** Compares a plan by the wallet's view of its chain, which is the one that it is on. */
async function assertPlan(world: World, asked: Asked, plan: Plan, from: number, { confirmed }: Word): Promise<void> {
  await assertReady(world.provider, walletOf(asked), asked.chainId)
  const { ok, problems, confirm } = await checkPlan(world, asked, plan, from)
  if (!ok) throw new Refused(problems)
  if (confirm && confirm !== confirmed) throw new NeedsConfirm(confirm)
}

const walletOf = (asked: Asked) => (asked.type === 'swap' ? asked.user : asked.userAddress)

/** Asks for one transaction of a plan; returns its hash. */
export async function askTransaction(
  world: World,
  given: { asked: Asked; plan: Plan; position: number; place: Place | undefined } & Word,
): Promise<string> {
  const { asked, plan, position, place, confirmed } = copyOf(given)
  await assertPlan(world, asked, plan, position, { confirmed })
  const sent = { from: walletOf(asked), planned: plan.transactions[position], chainId: asked.chainId, place }
  return send(world.provider, sent, { kind: 'transaction', given: { asked, plan, position, place, confirmed } })
}

/** Asks for all transactions of a plan at once, or none of them (ERC-5792); returns the id of the batch. */
export async function askBatch(
  world: World,
  given: { asked: Asked; plan: Plan; batchId: string } & Word,
): Promise<string> {
  const { asked, plan, batchId, confirmed } = copyOf(given)
  await assertPlan(world, asked, plan, 0, { confirmed })
  await assertReady(world.provider, walletOf(asked), asked.chainId)
  const { provider } = world
  const answer = provider.handOn
    ? await provider.handOn({ kind: 'batch', given: { asked, plan, batchId, confirmed } })
    : await ask(provider, 'wallet_sendCalls', [{ ...plan.batch, id: batchId }])
  const id = typeof answer === 'string' ? answer : (answer as { id?: unknown } | null)?.id
  return typeof id === 'string' && id !== '' ? id : batchId
}

/** Asks for the claim of a reward, made here; returns the hash of its transaction. */
export async function askClaim(world: World, given: { asked: ClaimAsked; place: Place | undefined }): Promise<string> {
  const { asked, place } = copyOf(given)
  await assertReady(world.provider, asked.userAddress, asked.chainId)
  const { ok, problems, transaction } = await checkClaim(world, asked)
  if (!ok) throw new Refused(problems)
  const sent = { from: asked.userAddress, planned: transaction, chainId: asked.chainId, place }
  return send(world.provider, sent, { kind: 'claim', given: { asked, place } })
}

/** The request for an order; the contracts come from `trust`. */
export type OrderAsked = Omit<SwapOrderRequest, 'settlement' | 'relayer' | 'gasCap'>

export async function checkOrder(world: World, asked: OrderAsked, built: BuiltSwapOrder) {
  const { verifySwapOrder } = await import('../verify/index.js')
  const { facts, trusts } = await findFacts(world, asked.chainId)
  const { settlement, relayer, gasCap } = facts
  if (!settlement || !relayer)
    return { ok: false, problems: [`no settlement of chain ${asked.chainId} is trusted`], sentences: [], trusts }
  const decimals = await readDecimals(world.provider, [asked.tokenIn, asked.tokenOut])
  const request = { ...asked, settlement, relayer, decimals, ...(gasCap === null ? {} : { gasCap }) }
  return { ...verifySwapOrder(request, built), trusts }
}

async function assertOrder(world: World, asked: OrderAsked, built: BuiltSwapOrder): Promise<void> {
  const { ok, problems } = await checkOrder(world, asked, built)
  if (!ok) throw new Refused(problems)
}

type OrderGiven = { asked: OrderAsked; built: BuiltSwapOrder }

/** Asks for the signature of an order. */
export async function askOrder(world: World, given: OrderGiven): Promise<string> {
  const { asked, built } = copyOf(given)
  await assertOrder(world, asked, built)
  await assertReady(world.provider, asked.userAddress, asked.chainId)
  const { provider } = world
  if (provider.handOn) return textOf(await provider.handOn({ kind: 'order', given: { asked, built } }))
  return textOf(await ask(provider, 'eth_signTypedData_v4', [asked.userAddress, JSON.stringify(built.typedData)]))
}

/** Asks for an approval that an order needs; returns the hash of its transaction. */
export async function askOrderApproval(
  world: World,
  given: OrderGiven & { position: number; place: Place | undefined },
): Promise<string> {
  const { asked, built, position, place } = copyOf(given)
  await assertOrder(world, asked, built)
  const { userAddress: from, chainId } = asked
  const sent = { from, planned: built.approvals[position], chainId, place }
  return send(world.provider, sent, { kind: 'orderApproval', given: { asked, built, position, place } })
}

/** Asks for the transaction that ends an order; returns its hash. */
export async function askOrderCancellation(
  world: World,
  given: OrderGiven & { place: Place | undefined },
): Promise<string> {
  const { asked, built, place } = copyOf(given)
  // Whether it can still be filled is no question of its end.
  await assertOrder(world, asked, built)
  const { userAddress: from, chainId } = asked
  const sent = { from, planned: { type: 'cancel', transaction: built.cancellation }, chainId, place }
  return send(world.provider, sent, { kind: 'orderCancellation', given: { asked, built, place } })
}

export type AgreementAsked = { address: string; chainId: number; url: string }

/** Asks for the signature of a membership text. */
export async function askAgreement(
  world: World,
  given: { asked: AgreementAsked; answer: { message: string; nonce: string } },
): Promise<string> {
  const { asked, answer } = copyOf(given)
  const { verifyAgreement } = await import('../verify/index.js')
  const judge = (now: number) => verifyAgreement({ ...asked, walletEcosystem: 'evm', now }, answer)
  // The clock of the machine may be wrong, and a chain that mines nothing keeps an old one: one of both has to agree.
  const byMachine = judge(nowOf(world))
  const { ok, problems } = byMachine.ok ? byMachine : judge(await readTime(world))
  if (!ok) throw new Refused(problems)
  await assertReady(world.provider, asked.address, undefined)
  const { provider } = world
  if (provider.handOn) return textOf(await provider.handOn({ kind: 'agreement', given: { asked, answer } }))
  const bytes = [...new TextEncoder().encode(answer.message)].map((byte) => byte.toString(16).padStart(2, '0'))
  return textOf(await ask(provider, 'personal_sign', [`0x${bytes.join('')}`, asked.address]))
}

/** The accounts that the wallet shows this page. */
export async function askAccounts({ provider }: Pick<World, 'provider'>): Promise<string[]> {
  const accounts = await ask(provider, 'eth_requestAccounts').catch((error: unknown) => {
    // A node that keeps keys, as that of the devnet, has nobody to ask.
    if (readFailure(error).code === -32_601) return ask(provider, 'eth_accounts')
    throw error
  })
  return Array.isArray(accounts) ? accounts.filter((each) => typeof each === 'string') : []
}

const textOf = (answer: unknown): string => {
  if (typeof answer === 'string' && answer !== '') return answer
  throw new TypeError('the wallet gave no answer')
}

/**
 * Nothing is asked of another account or on another chain. A chain that the wallet has is switched to; one that it lacks is
 * told to the user, as a node named by others would see all that is asked of it.
 */
async function assertReady(provider: Provider, account: string, chainId: number | undefined): Promise<void> {
  const accounts = await ask(provider, 'eth_accounts')
  const has = Array.isArray(accounts) && accounts.some((each) => String(each).toLowerCase() === account.toLowerCase())
  if (!has) throw new NotReady('account', `the wallet does not show the account ${account}`)
  if (chainId !== undefined) await reachChain(provider, chainId)
}

/** Whether what the provider reads is of a chain. */
export const isOnChain = async (provider: Provider, chainId: number): Promise<boolean> =>
  Number(await ask(provider, 'eth_chainId')) === chainId

/**
 * Asks the wallet to be on a chain, where it is not.
 * @throws NotReady if it stays where it is, or lacks the chain.
 */
export async function reachChain(provider: Provider, chainId: number): Promise<void> {
  if (await isOnChain(provider, chainId)) return
  try {
    await ask(provider, 'wallet_switchEthereumChain', [{ chainId: `0x${chainId.toString(16)}` }])
  } catch (error) {
    const { code, message } = readFailure(error)
    throw new NotReady('chain', code === 4902 ? `the wallet does not know the chain ${chainId}` : message)
  }
  if (!(await isOnChain(provider, chainId))) throw new NotReady('chain', `the wallet is not on the chain ${chainId}`)
}

type Sending = {
  from: string
  planned: PlannedTransaction | undefined
  chainId: number
  place: Place | undefined
}

/** A fee may have grown by this since the place was taken. */
const feeFactor = 10n

/** A place is kept in storage, where others may write: it says a number of the account, and fees as they are today. */
async function readPlace(provider: Provider, place: Place | undefined): Promise<Place | undefined> {
  if (!place) return undefined
  const kept = Object.entries(place).filter(([name]) => placeMembers.includes(name)) as [keyof Place, unknown][]
  if (kept.some(([, value]) => typeof value !== 'string' || !/^0x[0-9a-f]{1,16}$/i.test(value)))
    throw new Refused(['the place of the transaction is malformed'])
  const present = BigInt(String(await ask(provider, 'eth_gasPrice')))
  for (const [name, value] of kept)
    if (name !== 'nonce' && BigInt(String(value)) > present * feeFactor)
      throw new Refused([`${name} is more than ${feeFactor} times what the chain asks today`])
  return Object.fromEntries(kept) as Place
}

const placeMembers = ['nonce', 'maxFeePerGas', 'maxPriorityFeePerGas', 'gasPrice']

const hex = (value: string | number) => `0x${BigInt(value).toString(16)}`

/** Members by their names: nothing that stands next to them in an answer goes on to the wallet. */
async function send(provider: Provider, { from, planned, chainId, place }: Sending, handed: Handed): Promise<string> {
  if (!planned) throw new Refused(['there is no such transaction'])
  const { to, data, value, gasLimit } = planned.transaction
  await assertReady(provider, from, chainId)
  const placed = await readPlace(provider, place)
  if (provider.handOn) return textOf(await provider.handOn(handed))
  const gas = gasLimit === undefined ? {} : { gas: hex(gasLimit) }
  const request = { from, to, data, value: hex(value), chainId: hex(chainId), ...gas, ...placed }
  return textOf(await ask(provider, 'eth_sendTransaction', [request]))
}
