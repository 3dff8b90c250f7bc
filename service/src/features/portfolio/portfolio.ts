import type { Address } from 'viem'
import { inFlight } from '../../kernel/async/inFlight.js'
import { findPrices } from '../../prices/index.js'
import type { Chain } from '../../rpc/chains.js'
import type { CatalogueSnapshot } from '../catalogue/index.js'
import type { Adapter, AdapterInput, BlockRef } from './adapter.js'
import { createAaveV3Adapter } from './adapters/aaveV3.js'
import { streamsAdapter } from './adapters/streams.js'
import { vaultsAdapter } from './adapters/vaults.js'
import { type Budget, startBudget } from './budget.js'
import type { ChainHoldings, Head, Portfolio, PortfolioContext, Problem } from './context.js'
import { describeFailure, readBlockRef, readHoldings, unreadable } from './holdings.js'
import type { WalletMarks } from './storeMarks.js'

/** The most an answer takes, with some left to send it. */
const deadlineMsDefault = 2_800
/** About what a row takes in memory. */
export const rowBytes = 700
/** Time after which a late price is seen, on a chain whose block stays the same. */
export const keptMs = 30_000

/** Every adapter there is. */
export function listAdapters(): Adapter[] {
  return [vaultsAdapter, streamsAdapter, createAaveV3Adapter()]
}

export function openPortfolio(
  options: Partial<Pick<Portfolio, 'adapters' | 'deadlineMs' | 'findPrices'>> & { patience?: number } = {},
): Portfolio {
  return {
    adapters: options.adapters ?? listAdapters(),
    deadlineMs: options.deadlineMs ?? deadlineMsDefault * (options.patience ?? 1),
    findPrices: options.findPrices ?? findPrices,
    heads: new Map(),
    underWay: inFlight(),
    sumsUnderWay: inFlight(),
  }
}

/** `unwatched` are chains that are listed and not read, by id. */
export type WalletHoldings = { chains: ChainHoldings[]; problems: Problem[]; unwatched: number[] }

/** The holdings of a wallet (lower-case) on all chains, read in parallel. */
export async function readWallet(
  ctx: PortfolioContext,
  wallet: Address,
  { entries, openRequests, derived }: WalletMarks,
  budget: Budget,
): Promise<WalletHoldings> {
  const snapshot = ctx.catalogue.current()
  const shared = { snapshot, wallet, openRequests, once: createOnce(), budget }
  const read = listRead(ctx).map((chain) => {
    const { chainId, confirmations } = chain
    const entryBlock = entries.get(chainId) ?? -1
    const derivedBlock = derived.get(chainId) ?? -1
    return {
      ...shared,
      chain,
      entryBlock,
      derivedBlock,
      leastBlock: Math.max(entryBlock, derivedBlock - confirmations),
    }
  })
  const chains = await Promise.all(read.map((each) => readChain(ctx, each)))
  const lags = read.flatMap((each, at) => describeLag(each, chains[at]?.block))
  const unread = [...snapshot.chains.values()].filter(({ active, chainId }) => active && !ctx.chains.has(chainId))
  const unwatched = unread.map(({ chainId }) => chainId).sort((a, b) => a - b)
  return { chains, problems: lags, unwatched }
}

/** A block that is told though newer ones are derived: nodes of one chain are not expected to be further apart. */
function describeLag({ chain, derivedBlock, leastBlock }: ChainRead, block: BlockRef | undefined): Problem[] {
  if (!block || block.number >= leastBlock) return []
  const error = `${chain.name} is told as of block ${block.number}: its node is behind block ${derivedBlock}, which is derived`
  return [{ chainId: chain.chainId, source: 'rpc', error }]
}

/** Fetches the newest blocks while the database is read; the consumer of a block sees its failure. */
export function startHeads(ctx: PortfolioContext): void {
  for (const chain of listRead(ctx)) findHead(ctx, chain, -1).catch(() => undefined)
}

/** The chains that are read. */
function listRead({ chains, catalogue }: PortfolioContext): Chain[] {
  const snapshot = catalogue.current()
  return [...chains.values()].filter(({ chainId }) => snapshot.chains.get(chainId)?.active !== false)
}

export function startPortfolio({ clock, portfolio }: PortfolioContext): Budget {
  return startBudget(clock, portfolio.deadlineMs)
}

type ChainRead = {
  chain: Chain
  snapshot: CatalogueSnapshot
  wallet: Address
  openRequests: AdapterInput['openRequests']
  once: AdapterInput['once']
  budget: Budget
  /** The block of the wallet's last derived entry: cached holdings of an earlier block are stale. */
  entryBlock: number
  derivedBlock: number
  /** The head is asked again where it was before this one, and is behind where it still is. */
  leastBlock: number
}

/** A chain's holdings: as they are kept of this block, as they are being read for somebody else, or read now. */
function readChain(ctx: PortfolioContext, read: ChainRead): Promise<ChainHoldings> {
  const { chain, snapshot, wallet, entryBlock } = read
  const key = `${chain.chainId} ${wallet} ${entryBlock} ${snapshot.version}`
  return ctx.portfolio.underWay(key, () =>
    readAtHead(ctx, read, key).catch((error: unknown) => {
      ctx.log.warn({ err: error, chainId: chain.chainId }, 'a chain could not be read for a portfolio')
      return unreadable(chain.chainId, describeFailure(error, `${chain.name} cannot be read right now`))
    }),
  )
}

async function readAtHead(ctx: PortfolioContext, read: ChainRead, key: string): Promise<ChainHoldings> {
  const { chain, budget, leastBlock } = read
  const shelf = ctx.catalogue.answers.shelf<ChainHoldings>('portfolio')
  const keptOf = (block: BlockRef | undefined) => block && shelf.find(`${key} ${block.hash}`)
  const { last } = ctx.portfolio.heads.get(chain.chainId) ?? {}
  const head = budget.within(findHead(ctx, chain, leastBlock), 'head')
  // The consumer sees its failure.
  head.catch(() => undefined)
  // If the newest block is probably the last one, its cached holdings are awaited; else the reads start with the block.
  const kept = keptOf(last) && keptOf(await head)
  if (kept) return kept
  const ask = { ...read, adapters: ctx.portfolio.adapters }
  const holdings = await readHoldings(ctx, ask, head).catch(async (error: unknown) => {
    const block = await head
    // The block may have been reorganised away meanwhile.
    ctx.portfolio.heads.delete(chain.chainId)
    const again = await budget.within(findHead(ctx, chain, leastBlock), 'head')
    if (again.hash === block.hash) throw error
    return readHoldings(ctx, ask, Promise.resolve(again))
  })
  const { idle, found, isLasting } = holdings
  const rows = 2 + idle.length + found.length
  if (isLasting) shelf.keep(`${key} ${holdings.block?.hash}`, holdings, rows * rowBytes, keptMs)
  return holdings
}

/** The newest block, as it was read within one poll of the chain, or read now where that is before `leastBlock`. */
async function findHead({ clock, portfolio }: PortfolioContext, chain: Chain, leastBlock: number): Promise<BlockRef> {
  const { heads } = portfolio
  const now = clock.monotonicMs()
  const known = heads.get(chain.chainId)
  if (known && now - known.atMs < chain.pollIntervalMs) {
    const block = await known.reading.catch(() => undefined)
    if (block && block.number >= leastBlock) return block
  }
  const latest = heads.get(chain.chainId)
  // Somebody else may have begun meanwhile.
  if (latest && latest !== known) return latest.reading
  const reading = readBlockRef(chain)
  const head: Head = { reading, atMs: now, last: latest?.last }
  heads.set(chain.chainId, head)
  reading.then(
    (block) => {
      head.last = block
    },
    () => heads.get(chain.chainId) === head && heads.delete(chain.chainId),
  )
  return reading
}

/** Runs each work once, for all callers. */
function createOnce(): AdapterInput['once'] {
  const works = new Map<string, Promise<unknown>>()
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const begun = works.get(name) ?? work()
    works.set(name, begun)
    // Work under one name always has the same type.
    return (await begun) as T
  }
}
