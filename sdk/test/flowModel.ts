import { buildSuffix } from '@openearn/attribution'
import { encodeFunctionData, erc20Abi, erc4626Abi, type Hex, keccak256, numberToHex, parseAbi, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createEarnClient, type EarnClient, type types } from '../src/client/index.js'
import { below, type Random } from './random.js'

/**
 * A chain, a wallet and a service as models: small enough that a thousand lives of a flow are played, each with everything
 * that may go wrong drawn at random. What counts is what the chain mined.
 */

export const signerKey: Hex = '0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6'
export const chainId = 31_337
export const wallet: Hex = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const vault: Hex = '0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9'
export const asset: Hex = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
export const opportunityId = '117fbf7f-1755-4202-9bea-f02ff57091cb'
const amount = 1_000_000n

export const facts: types.VerificationContext = {
  chainId,
  vaults: [{ opportunityId, address: vault, asset, share: vault, kind: 'erc4626', contracts: [] }],
  ...{ routers: [], wrappers: [], depositRouter: null, wrappedNative: null, quoter: null, settlement: null },
  ...{ relayer: null, streamFactory: null, gasCap: null, signers: [privateKeyToAccount(signerKey).address] },
}

type Sent = { hash: Hex; nonce: number; to: string; data: string; input: string; at: string }
type Mined = Sent & { success: boolean; block: number }

/** What the wallet does with a request. */
export type Mood =
  | 'sends'
  | 'rejects'
  | 'fails before it sends'
  | 'sends and its answer is lost'
  | 'never answers'
  | 'sends and never answers'
  | 'is on another chain'
  | 'shows another account'
export const moods: readonly Mood[] = [
  ...(['sends', 'rejects', 'fails before it sends', 'sends and its answer is lost', 'never answers'] as const),
  ...(['sends and never answers', 'is on another chain', 'shows another account'] as const),
]

export type ModelOptions = {
  random: Random
  /** A contract: its transactions are sent by others, and its wallet answers an id that no node knows. */
  contract?: boolean
  /** It takes several calls at once. */
  batches?: boolean
  /** The deposit router through which deposits go, with a least amount of shares. */
  protect?: Hex
}

export type Model = ReturnType<typeof openModel>

const rpcError = (code: number, message: string) => Object.assign(new Error(message), { code })
const never = () => new Promise<never>(() => undefined)

export function openModel({ random, contract = false, batches = false, protect }: ModelOptions) {
  const pool: Sent[] = []
  const mined: Mined[] = []
  const state = {
    nonce: 5,
    block: 100,
    allowance: 0n,
    balance: 10n ** 12n,
    mood: 'sends' as Mood,
    chain: chainId,
    sick: false,
    count: 0,
    credits: true,
    /** The wallet cuts off what stands behind the call. */
    strips: false,
    /** The service's node does not know what the wallet's knows. */
    behind: false,
  }
  const calls = new Map<string, { hash: Hex | undefined; sent: boolean }>()
  const asked: { method: string; params: unknown }[] = []

  const newHash = () => keccak256(toHex(`${++state.count} ${random()}`))
  /** Puts a transaction into the pool; the same one again is the same, one with its number takes its place or is refused. */
  const push = (nonce: number, to: string, data: string): Hex => {
    if (nonce < state.nonce) throw rpcError(-32_000, 'nonce too low')
    const same = pool.find((each) => each.nonce === nonce)
    if (same && same.to === to && same.data === data) throw rpcError(-32_000, 'already known')
    if (same) throw rpcError(-32_000, 'replacement transaction underpriced')
    const hash = newHash()
    pool.push({ hash, nonce, to, data, input: data, at: to })
    return hash
  }
  const execute = (to: string, data: string): boolean => {
    if (to === asset) state.allowance = amount
    else if (to === vault) {
      if (state.allowance < amount) return false
      state.allowance -= amount
      state.balance -= amount
    }
    return data !== '0xdead'
  }
  /** Mines a block with what waits, in the order of numbers. */
  const mine = () => {
    state.block++
    pool.sort((a, b) => a.nonce - b.nonce)
    while (pool[0] && (contract || pool[0].nonce === state.nonce)) {
      const next = pool.shift() as Sent
      if (!contract) state.nonce++
      const list = next.data.startsWith('[') ? (JSON.parse(next.data) as { to: string; data: string }[]) : [next]
      const { allowance, balance } = state
      const success = list.every(({ to, data }) => execute(to, data))
      if (!success) Object.assign(state, { allowance, balance })
      mined.push({ ...next, success, block: state.block })
    }
  }
  /** The user speeds up what waits: the same call under another hash. */
  const speedUp = () => {
    const [first] = pool
    if (first && !contract) first.hash = newHash()
  }
  /** The user cancels what waits: another transaction of its number. */
  const cancel = () => {
    const [first] = pool
    if (first && !contract) Object.assign(first, { hash: newHash(), to: wallet, data: '0x', input: '0x', at: wallet })
  }

  const sendTransaction = ({ to, data: whole, nonce }: Record<string, string>) => {
    const data = state.strips && to === vault ? String(whole).slice(0, 138) : whole
    if (!contract) return push(nonce === undefined ? nextNonce() : Number(nonce), String(to), String(data))
    // Carried by somebody else's transaction; the wallet's answer is an id of its own.
    const hash = newHash()
    pool.push({
      hash,
      nonce: 0,
      to: String(to),
      data: String(data),
      input: `0xabcdef${String(data).slice(2)}`,
      at: signerKey.slice(0, 42),
    })
    return newHash()
  }
  const sendCalls = ({ id, calls: list }: { id: string; calls: { to: string; data: string }[] }) => {
    if (calls.get(id)?.sent) throw rpcError(5720, 'duplicate id')
    const hash = newHash()
    pool.push({
      hash,
      nonce: contract ? 0 : nextNonce(),
      to: '',
      data: JSON.stringify(list),
      input: '0xba7c',
      at: vault.replace('D', 'E'),
    })
    calls.set(id, { hash, sent: true })
    return { id }
  }
  const nextNonce = () => state.nonce + pool.length

  const ask = async (send: () => unknown): Promise<unknown> => {
    const { mood } = state
    if (mood === 'rejects') throw rpcError(4001, 'the user said no')
    if (mood === 'fails before it sends') throw rpcError(-32_603, 'internal error')
    if (mood === 'never answers') return never()
    const answer = send()
    if (mood === 'sends and its answer is lost') throw rpcError(-32_603, 'connection closed')
    if (mood === 'sends and never answers') return never()
    return answer
  }
  const find = (hash: unknown) => mined.find((each) => each.hash === hash)

  /** The wallet's provider shows what is on the wallet's chain. */
  const isElsewhere = () => state.mood === 'is on another chain' || state.chain !== chainId

  const methods: Record<string, (params: never) => unknown> = {
    eth_accounts: () => [state.mood === 'shows another account' ? vault : wallet],
    eth_chainId: () => numberToHex(state.mood === 'is on another chain' ? 1 : state.chain),
    wallet_switchEthereumChain: () => {
      throw rpcError(4902, 'unknown chain')
    },
    eth_call: ([{ to, data }]: [{ to: string; data: string }]) => {
      if (isElsewhere()) return '0x'
      if (data.startsWith('0xdd62ed3e') && to === asset) return numberToHex(state.allowance, { size: 32 })
      if (data.startsWith('0x70a08231') && to === asset) return numberToHex(state.balance, { size: 32 })
      if (data === '0x313ce567' && to === asset.toLowerCase()) return numberToHex(6, { size: 32 })
      if (data === '0x38d52e0f' && to === vault) return `0x${asset.slice(2).padStart(64, '0')}`
      throw rpcError(3, 'reverted')
    },
    eth_getCode: () => (contract ? '0x60' : '0x'),
    eth_gasPrice: () => '0x77359400',
    eth_getBlockByNumber: () => ({ baseFeePerGas: '0x3b9aca00', timestamp: numberToHex(1_795_000_000) }),
    eth_getTransactionCount: ([, block]: [string, string]) =>
      // Of the same account on another chain.
      numberToHex(isElsewhere() ? 77 : block === 'latest' ? state.nonce : contract ? state.nonce : nextNonce()),
    eth_getTransactionReceipt: ([hash]: [string]) => {
      const found = isElsewhere() ? undefined : find(hash)
      return found
        ? { blockNumber: numberToHex(found.block), transactionHash: hash, status: found.success ? '0x1' : '0x0' }
        : null
    },
    eth_getTransactionByHash: ([hash]: [string]) => {
      const found = isElsewhere() ? undefined : (find(hash) ?? pool.find((each) => each.hash === hash))
      return found
        ? { hash, from: contract ? vault : wallet, to: found.at, input: found.input, nonce: numberToHex(found.nonce) }
        : null
    },
    eth_sendTransaction: ([transaction]: [Record<string, string>]) => ask(() => sendTransaction(transaction)),
    wallet_getCapabilities: () => {
      if (!batches) throw rpcError(-32_601, 'no such method')
      return { [numberToHex(chainId)]: { atomic: { status: 'supported' } } }
    },
    wallet_sendCalls: ([batch]: [{ id: string; calls: { to: string; data: string }[] }]) => ask(() => sendCalls(batch)),
    wallet_getCallsStatus: ([id]: [string]) => {
      const known = calls.get(id)
      if (!known) throw rpcError(5730, 'unknown id')
      const found = find(known.hash)
      if (!found) return { status: 100 }
      const receipts = [{ transactionHash: found.hash, status: found.success ? '0x1' : '0x0' }]
      return { status: found.success ? 200 : 500, receipts }
    },
  }
  const request = async ({ method, params }: { method: string; params: unknown }): Promise<unknown> => {
    asked.push({ method, params })
    const run = methods[method]
    if (!run) throw rpcError(-32_601, `no ${method}`)
    return run(params as never)
  }

  const service = openService({ random, state, mined, pool, protect })
  return { state, pool, mined, asked, mine, speedUp, cancel, request, earn: service.earn, plans: service.plans, amount }
}

const routerAbi = parseAbi([
  'function depositWithMinimum(address vault, uint256 assets, address receiver, uint256 minimumShares)',
])

/** A plan of a deposit, as an honest service builds it; each part may be another one. */
export function buildPlan(options: {
  name: string
  approves?: boolean
  to?: Hex
  token?: Hex
  spender?: Hex
  receiver?: Hex
  assets?: bigint
  code?: string
  key?: Hex
  /** The vault that a deposit router is told, with the least amount of shares. */
  protects?: { vault: Hex; least: bigint }
}) {
  const { name, approves = true, to = vault, token = asset, spender = to, receiver = wallet } = options
  const { assets = amount, code = 'acme', key = signerKey, protects } = options
  const digits = keccak256(toHex(`action ${name}`)).slice(2)
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`]
  const actionId = [...parts, digits.slice(20, 32)].join('-')
  const call = protects
    ? encodeFunctionData({ abi: routerAbi, args: [protects.vault, assets, receiver, protects.least] })
    : encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [assets, receiver] })
  const suffix = buildSuffix({ code, actionId, chainId, wallet, target: to, data: call, privateKey: key })
  const approve = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, assets] })
  const one = (type: string, target: Hex, data: Hex) => ({
    type,
    description: '',
    transaction: { to: target, data, value: '0', gasLimit: '100000', chainId },
  })
  const deposit = one('deposit', to, `${call}${suffix.slice(2)}`)
  const transactions = approves ? [one('approve', token, approve), deposit] : [deposit]
  return { actionId, transactions, batch: toBatch(transactions), validUntil: '2026-11-26T12:00:00Z', simulation: {} }
}

export const toBatch = (transactions: readonly { transaction: { to: Hex; data: Hex } }[]) => ({
  ...{ version: '2.0.0', chainId: numberToHex(chainId), from: wallet, atomicRequired: true },
  calls: transactions.map(({ transaction: { to, data } }) => ({ to, data, value: '0x0' })),
})

type Parts = {
  random: Random
  state: { block: number; sick: boolean; allowance: bigint; credits: boolean; strips: boolean; behind: boolean }
  mined: readonly Mined[]
  pool: readonly Sent[]
  protect: Hex | undefined
}

/** The service: it builds signed plans, the same for the same key, and reads the chain two blocks late. */
function openService({ random, state, mined, pool, protect }: Parts): { earn: EarnClient; plans: Map<string, object> } {
  const plans = new Map<string, { actionId: string; marker: string }>()
  const carries = ({ data }: Sent, marker: string) => data.includes(marker)

  const build = (key: string) => {
    const kept = plans.get(key)
    if (kept) return kept
    const { actionId, transactions, batch } = buildPlan({
      ...{ name: key, approves: state.allowance < amount },
      ...(protect ? { to: protect, protects: { vault, least: 990_000n } } : {}),
    })
    const marker = actionId.replaceAll('-', '')
    const plan = { actionId, transactions, batch, validUntil: '2026-11-26T12:00:00Z', simulation: {}, marker }
    plans.set(key, plan)
    return plan
  }
  const action = (actionId: string) => {
    const marker = actionId.replaceAll('-', '')
    const found = mined.filter((each) => carries(each, marker))
    const waiting = pool.filter((each) => carries(each, marker))
    const transactions = [...waiting, ...found].map((each) => ({
      ...{ txHash: each.hash, blockNumber: null },
      state: !('success' in each) ? 'pending' : each.success ? 'mined' : 'reverted',
    }))
    const good = found.find(({ success }) => success)
    const isRead = good !== undefined && state.block >= good.block + 2
    const status = isRead ? 'verified' : good ? 'submitted' : found.length > 0 ? 'reverted' : 'built'
    return { actionId, status, transactions, interactions: isRead && state.credits ? [{ id: '1' }] : [] }
  }
  const answer = (path: string, key: string | undefined): unknown => {
    if (path.startsWith('/v2/actions/deposit/')) return build(key ?? '')
    if (path.startsWith('/v2/actions/verify'))
      return state.strips || state.behind
        ? undefined
        : { error: '', proof: { inspection: { problems: ['no event of the vault'] } } }
    if (path.startsWith('/v2/actions/')) return action(path.slice('/v2/actions/'.length))
    if (path.startsWith('/v2/opportunities/')) return { id: opportunityId, chainId }
    if (path.startsWith('/v2/verification')) return { ...facts, depositRouter: protect ?? null }
    return { requests: [] }
  }
  const fetch = async (input: unknown, init?: RequestInit): Promise<Response> => {
    const { pathname } = new URL(String(input))
    const { 'idempotency-key': key } = (init?.headers ?? {}) as Record<string, string>
    const sick = state.sick ? below(random, 5) : 5
    if (sick === 0) return new Response('<html>bad gateway</html>', { status: 502 })
    if (sick === 1)
      return new Response(JSON.stringify({ code: 503, status: 'UNAVAILABLE', error: 'sick', context: {} }), {
        status: 503,
      })
    if (sick === 2) throw new TypeError('fetch failed')
    const found = answer(pathname, key)
    if (found === undefined) {
      const context = state.behind ? { retryable: true } : {}
      const refused = { code: 404, status: 'NOT_FOUND', error: 'the transaction carries no attribution', context }
      return new Response(JSON.stringify(refused), { status: 404 })
    }
    const body = JSON.stringify(found)
    // The work is done, and the answer is lost.
    if (sick === 3) throw new TypeError('connection reset')
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  }
  const earn = createEarnClient({
    baseUrl: 'https://earn.example',
    retries: 0,
    fetch: fetch as typeof globalThis.fetch,
  })
  return { earn, plans }
}
