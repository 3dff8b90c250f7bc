import { type Hex, numberToHex, toFunctionSelector } from 'viem'
import { createEarnClient, type Trust, type types } from '../src/client/index.js'
import {
  beginCancel,
  beginClaim,
  beginDeposit,
  beginSwap,
  beginWithdraw,
  type PlanFlow,
  type World,
} from '../src/flows/index.js'
import type { PlannedTransaction } from '../src/verify/index.js'
import type { Plan } from './plans.js'
import { placeOfSwap, readSwapOf } from './swapPlans.js'

/** The way of a plan from a service to a wallet: a file of trust, a chain as the plan needs it, and what reached the wallet. */

export const opportunityId = '117fbf7f-1755-4202-9bea-f02ff57091cb'
const quoter: Hex = `0x${'9a'.repeat(20)}`
const tolerance = 100n
/** Unix seconds at which the plans were built. */
const builtAt = 0x6b003640

/** What an own quote is, so that the least amount of a plan is just what is asked for. */
const quoteFor = (least: bigint, slippageBps: number): bigint => {
  const share = 10_000n - BigInt(slippageBps) - tolerance
  return (least * 10_000n + share - 1n) / share
}

/** The file of trust that knows what a plan was built from. */
export function trustOf({ context }: Plan): Trust {
  const { chainId, vault, signers, swap, depositRouter, wrappedNative } = context
  const { address, asset, kind, receiptToken } = vault
  const contracts = Object.entries(vault.contracts ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const facts = {
    ...{ chainId, settlement: null, relayer: null, streamFactory: null, gasCap: null },
    vaults: [
      {
        opportunityId,
        address,
        asset,
        kind,
        share: receiptToken ?? address,
        contracts: contracts.map(([, each]) => each),
      },
    ],
    routers: swap?.routers ?? [],
    wrappers: [...new Set(swap?.wrappers?.map((wrapper) => wrapper.address))],
    ...{ depositRouter: depositRouter ?? null, wrappedNative: wrappedNative ?? null, quoter: swap ? quoter : null },
    signers: signers.map((signer) => (typeof signer === 'string' ? signer : signer.address)),
  }
  return { version: 1, chains: [facts as unknown as types.VerificationContext] }
}

/** The request of a plan, as its user makes it. Who brought a pending deposit is named here by all. */
export function requestOf({ request, context }: Plan) {
  const { type, userAddress, ...params } = request as Record<string, unknown> & { type: string; userAddress: string }
  const { chainId } = context
  if (type === 'swap') return { type, chainId, ...params }
  return { type, chainId, userAddress, opportunityId, distributorId: 'acme', ...params }
}

export function beginPlan(plan: Plan): PlanFlow {
  const { type, chainId, ...params } = requestOf(plan)
  if (type === 'deposit') return beginDeposit(params as never)
  if (type === 'withdraw') return beginWithdraw(params as never)
  if (type === 'claimDeposit') return beginClaim(params as never)
  if (type === 'cancelDeposit') return beginCancel(params as never)
  return beginSwap({ ...params, chainId } as never)
}

/** The ERC-5792 batch of transactions, which says the same as they do, also where that is nonsense. */
export const batchOf = ({ request, context }: Plan, transactions: readonly PlannedTransaction[]) => ({
  ...{ version: '2.0.0', chainId: numberToHex(context.chainId), from: request.userAddress, atomicRequired: true },
  calls: transactions.map(({ transaction: { to, data, value } }) => ({
    ...{ to, data, value: /^\d+$/.test(value) ? numberToHex(BigInt(value)) : value },
  })),
})

/** What the service answers: a plan that may be another one than its batch says. */
export type Told = { transactions: readonly PlannedTransaction[]; batch: object }

const selector = (name: string) => toFunctionSelector(`function ${name}`)
const word = (value: bigint | string) => BigInt(value).toString(16).padStart(64, '0')
const is = (one: string | undefined, other: string) => one?.toLowerCase() === other.toLowerCase()
const failure = (code: number, message: string) => Object.assign(new Error(message), { code })

/** What the chain says to a call: the values of one plan's time, which allow its least amounts and not one unit less. */
function openChain(plan: Plan) {
  const { request, context, transactions } = plan
  const { vault, swap, wrappedNative } = context
  const { slippageBps = 50 } = request as { slippageBps?: number }
  const found = swap && placeOfSwap(plan) >= 0 ? readSwapOf(plan) : undefined
  const quote = found && quoteFor(found.minimumOut, slippageBps)
  const routers = swap?.routers.map(({ address }) => address) ?? []
  const given = new Map<string, bigint>()
  const keyOf = (token: string, spender: string) => `${token} ${spender}`.toLowerCase()
  const allowance = (token: string, spender: string) =>
    given.get(keyOf(token, spender)) ??
    BigInt(
      (routers.some((each) => is(each, spender)) && !is(context.depositRouter, spender)
        ? swap?.allowance
        : context.allowance) ?? 0,
    )
  const least = context.minimumOut === undefined ? undefined : quoteFor(BigInt(context.minimumOut), slippageBps)
  const wrappers = (kind: string, address: string) =>
    swap?.wrappers?.find((each) => (each.kind ?? 'erc4626') === kind && is(each.address, address))?.asset
  const views: Record<string, (to: string, data: string) => bigint | string | undefined> = {
    'allowance(address,address)': (to, data) => allowance(to, `0x${data.slice(98, 138)}`),
    'asset()': (to) => (is(to, vault.address) ? vault.asset : wrappers('erc4626', to)),
    'stETH()': (to) => wrappers('wsteth', to),
    'aToken()': (to) => wrappers('static-a-token', to),
    'previewDeposit(uint256)': () => least,
    'previewDeposit(address,uint256)': () => least,
    'previewRedeem(address,uint256)': () => least,
    'previewSyncRedeem(uint256)': () => least,
    // What the swap of a withdrawal takes, and the little that is kept back.
    'previewRedeem(uint256)': () => found && (found.amountIn * 10_000n + 9_998n) / 9_999n,
    'quoteExactInput(bytes,uint256)': (to) => (is(to, quoter) ? quote : undefined),
  }
  const selectors = new Map(Object.entries(views).map(([name, view]) => [selector(name), view]))
  return {
    wrappedNative,
    call: ({ to, data }: { to: string; data: string }): string => {
      const answer = selectors.get(data.slice(0, 10) as Hex)?.(to, data)
      if (answer === undefined) throw failure(3, 'execution reverted')
      return `0x${word(answer)}`
    },
    /** A mined approval is the allowance from then on. */
    mine: ({ to, data }: { to: string; data: string }) => {
      if (data.startsWith('0x095ea7b3'))
        given.set(keyOf(to, `0x${data.slice(34, 74)}`), BigInt(`0x${data.slice(74, 138)}`))
    },
    transactions,
  }
}

export type Reached = { to: string; data: string; value: string }

/** A world in which a service answers `told` for the request of a plan. The wallet does all that reaches it, at once. */
export function openWholeWay(plan: Plan, told: Told, { batches = false, trust = trustOf(plan) } = {}) {
  const chain = openChain(plan)
  const chainId = numberToHex(plan.context.chainId)
  const reached: Reached[] = []
  let sent = 0
  const take = (calls: readonly Reached[]): Hex => {
    for (const { to, data, value } of calls) {
      reached.push({ to, data, value })
      chain.mine({ to, data })
    }
    return numberToHex(++sent, { size: 32 })
  }
  const receipt = () => ({ blockNumber: '0x1', transactionHash: numberToHex(sent, { size: 32 }), status: '0x1' })
  const methods: Record<string, (params: never) => unknown> = {
    eth_accounts: () => [plan.request.userAddress],
    eth_chainId: () => chainId,
    eth_call: ([call]: [{ to: string; data: string }]) => chain.call(call),
    eth_getCode: () => '0x',
    eth_gasPrice: () => '0x77359400',
    eth_getTransactionCount: () => numberToHex(5 + sent),
    eth_getBlockByNumber: () => ({ baseFeePerGas: '0x3b9aca00', timestamp: numberToHex(builtAt) }),
    eth_getTransactionReceipt: receipt,
    eth_getTransactionByHash: () => null,
    eth_sendTransaction: ([transaction]: [Reached]) => take([transaction]),
    wallet_getCapabilities: () => {
      if (!batches) throw failure(-32_601, 'no such method')
      return { [chainId]: { atomic: { status: 'supported' } } }
    },
    wallet_sendCalls: ([{ id, calls }]: [{ id: string; calls: Reached[] }]) => {
      take(calls)
      return { id }
    },
    wallet_getCallsStatus: () => ({ status: 200, receipts: [receipt()] }),
  }
  const provider = {
    request: (async ({ method, params }: { method: string; params: never }) => {
      const answer = methods[method]
      if (!answer) throw failure(-32_601, `no ${method}`)
      return answer(params)
    }) as never,
  }
  const { actionId } = plan.context
  const earn = createEarnClient({
    baseUrl: 'https://earn.example',
    retries: 0,
    trust,
    fetch: async () =>
      new Response(JSON.stringify({ actionId, ...told, validUntil: '2026-11-26T12:00:00Z', simulation: {} })),
  })
  const world: World = { earn, provider, now: () => builtAt * 1_000 }
  return { world, reached }
}
