import { createHash } from 'node:crypto'
import { unavailable } from '../kernel/errors.js'
import { type Outbound, OutboundError } from '../kernel/outbound.js'
import type { Context } from '../postgres/context.js'
import { transactionGasCap } from './gasCaps.js'
import { createRpc, type Rpc, type RpcObserver, type RpcOptions } from './rpc.js'

export type ChainSettings = {
  chainId: number
  name: string
  nativeSymbol: string
  rpcUrls: readonly string[]
  confirmations: number
  finalityDepth: number
  pollIntervalMs: number
  reorgRecheckSeconds: number
  entryPoints: readonly string[]
  /** Most gas one transaction may have; absent: that of EIP-7825. */
  transactionGasCap?: number | null
  /** The cost of posting to another chain is paid as gas of the transaction: only the node knows the amount. */
  l1GasInLimit?: boolean
  /** One node's word about how transactions ran is believed. */
  trustTraces?: boolean
  /** The inputs of each new block are read for suffixes of ours; absent: they are not. */
  scanInputs?: boolean
  /** Whether its blocks follow the wall clock, or a clock of the chain's own (a development chain); absent: the wall clock. */
  clock?: 'wall' | 'chain'
  /** Seconds after the confirmation of a transaction during which its trace is requested; absent: 600. */
  traceWaitSeconds?: number
}

/** Most gas a transaction of the chain may have. */
export function getTransactionGasCap(chain: Pick<ChainSettings, 'transactionGasCap'>): bigint {
  return chain.transactionGasCap ? BigInt(chain.transactionGasCap) : transactionGasCap
}

/** A chain this installation can read. */
export type Chain = ChainSettings & {
  /** Raw JSON-RPC with failover. */
  rpc: Rpc
  /** WebSocket urls: they only say that there is a new head, everything is asked over HTTP. */
  headUrls: readonly string[]
  /** Each http url by itself, to be asked how transactions ran; only where a chain is watched. */
  traceRpcs?: readonly Rpc[]
}

/** The chains with an RPC url, by id. */
export type Chains = ReadonlyMap<number, Chain>

export type ChainContext = Context & { readonly chains: Chains }

/**
 * The purposes of calls to nodes. Each has its own connections, limit of calls under way and circuits, so that one purpose
 * cannot cut off another.
 */
export type Purpose = 'watch' | 'plan' | 'debug' | 'holdings'

/** The most one call of a request to a node may take, tries included, and the most it may wait for its turn. */
const requestMs = 4_000

/** By purpose: how many calls are under way at a url, how many wait and for how long. */
export const pools: Readonly<Record<Purpose, RpcOptions>> = {
  // Indexing, reconciliation and snapshots wait as long as it takes.
  watch: { room: { inFlight: 32 } },
  // Actions and signatures of contract wallets.
  plan: {
    deadlineMs: requestMs,
    room: { inFlight: 32, waiting: 512, waitMs: requestMs },
    runsForOthers: true,
  },
  // Look-ups of transactions.
  debug: {
    deadlineMs: requestMs,
    room: { inFlight: 8, waiting: 128, waitMs: requestMs },
    runsForOthers: true,
    job: 'debug',
  },
  // Holdings of wallets: large responses, with a deadline like that of other requests.
  holdings: {
    deadlineMs: 3_000,
    room: { inFlight: 16, waiting: 256, waitMs: 3_000 },
    runsForOthers: true,
    job: 'portfolio',
  },
}

/** Call trees are large, so few are under way. A response over this limit is refused while it is read. */
export const traces: RpcOptions = {
  deadlineMs: 15_000,
  maxBytes: 32 * 1024 * 1024,
  room: { inFlight: 8 },
  job: 'trace',
}

export type ChainOptions = {
  /** Default `watch`. */
  purpose?: Purpose
  /** Most gas of a batch of reads. */
  readGas?: number
  /** How many times longer than usual a request waits for a node. */
  patience?: number
}

const isHttp = (url: string): boolean => /^https?:/.test(url)

/** Opens every chain that has a url. No call is made. */
export function openChains(
  outbound: Outbound,
  settings: readonly ChainSettings[],
  onCall?: RpcObserver,
  options: ChainOptions = {},
): Chains {
  return new Map(
    settings
      .filter((chain) => chain.rpcUrls.length > 0)
      .map((chain) => [chain.chainId, openChain(outbound, chain, onCall, options)] as const),
  )
}

function poolOf(purpose: Purpose, patience: number): RpcOptions {
  const { deadlineMs, room, ...rest } = pools[purpose]
  return {
    ...rest,
    ...(deadlineMs === undefined ? {} : { deadlineMs: deadlineMs * patience }),
    ...(room === undefined ? {} : { room: { ...room, ...waitOf(room.waitMs, patience) } }),
  }
}

const waitOf = (waitMs: number | undefined, patience: number) =>
  waitMs === undefined ? {} : { waitMs: waitMs * patience }

/** Opens one chain. No call is made. */
export function openChain(
  outbound: Outbound,
  settings: ChainSettings,
  onCall?: RpcObserver,
  { purpose = 'watch', readGas, patience = 1 }: ChainOptions = {},
): Chain {
  const urls = settings.rpcUrls.filter(isHttp)
  const shared = { chainId: settings.chainId, ...(onCall ? { onCall } : {}) }
  const rpc = createRpc(outbound, urls, {
    ...poolOf(purpose, patience),
    ...(readGas === undefined ? {} : { readGas }),
    ...shared,
  })
  const traceRpcs = urls.map((url) => createRpc(outbound, [url], { ...traces, ...shared }))
  return {
    ...settings,
    rpc,
    headUrls: settings.rpcUrls.filter((url) => !isHttp(url)),
    ...(purpose === 'watch' ? { traceRpcs } : {}),
  }
}

/**
 * Each http url of a watched chain as a chain of its own, its calls counted for a job. Its name is the host, with a part of the
 * url's hash where several urls have one host: paths may hold keys.
 */
export function listNodes(chain: Chain, job: string): ReadonlyMap<string, Chain> {
  const urls = chain.rpcUrls.filter(isHttp)
  const hosts = urls.map((url) => new URL(url).host)
  return new Map(
    urls.flatMap((url, index) => {
      const [host = '', rpc] = [hosts[index], chain.traceRpcs?.[index]?.as(job)]
      const isShared = hosts.indexOf(host) !== hosts.lastIndexOf(host)
      const name = isShared ? `${host} ${createHash('sha256').update(url).digest('hex').slice(0, 8)}` : host
      return rpc ? [[name, { ...chain, rpcUrls: [url], rpc, traceRpcs: [rpc] }] as const] : []
    }),
  )
}

/** The same chains, their calls counted for a job. */
export function countFor(chains: Chains, job: string): Chains {
  return new Map([...chains].map(([chainId, chain]) => [chainId, { ...chain, rpc: chain.rpc.as(job) }]))
}

/** Runs reads of a chain. If no node responds, throws a 503 that the caller can retry. */
export async function readingChain<T>(chain: Pick<Chain, 'name'>, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    const retryAfterSeconds = Math.max(1, Math.ceil((error.retryAfterMs ?? 5_000) / 1000))
    throw unavailable(`${chain.name} cannot be read right now; try again shortly`, { cause: error, retryAfterSeconds })
  }
}
