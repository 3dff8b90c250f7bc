import type { Address, Hex } from 'viem'
import { inSlices, mapInSteps } from '../../kernel/async/inSlices.js'
import { memo } from '../../kernel/async/memo.js'
import { EarnError } from '../../kernel/errors.js'
import { readHead } from '../../rpc/blocks.js'
import type { Chain } from '../../rpc/chains.js'
import type { Read } from '../../rpc/multicall.js'
import { nativeToken } from '../../rpc/native.js'
import { type RawRead, readBatch } from '../../rpc/readBatch.js'
import { type CatalogueSnapshot, getNativeToken, isListedToken, type TokenRecord } from '../catalogue/index.js'
import {
  type Adapter,
  type AdapterAnswer,
  type AdapterInput,
  type BlockRef,
  balanceCall,
  parseWord,
  type ShareOf,
} from './adapter.js'
import { type Budget, TooLate } from './budget.js'
import { type ChainHoldings, type Found, type Idle, type PortfolioContext, type Problem, turns } from './context.js'
import { createPricing, listPriced, type Pricing, priceNative } from './pricing.js'

export type ChainAsk = {
  chain: Chain
  snapshot: CatalogueSnapshot
  /** Lower-case. */
  wallet: Address
  adapters: readonly Adapter[]
  openRequests: AdapterInput['openRequests']
  once: AdapterInput['once']
  budget: Budget
}

/** The most rounds of reads: adapters may find that they need further reads. */
const roundsMax = 3
/** Tokens named in one sentence. */
const namedMax = 8

/**
 * Reads the holdings of a wallet on a chain at a block. Failures are named, and the rest is right: a chain that does not respond
 * has no rows, an adapter that fails has no rows, and a contract that does not respond affects only its own row. The reads
 * are prepared while the block is being fetched.
 */
export async function readHoldings(
  ctx: PortfolioContext,
  ask: ChainAsk,
  head: Promise<BlockRef>,
): Promise<ChainHoldings> {
  const { chain, snapshot, wallet, openRequests, once, budget } = ask
  const { chainId } = chain
  const problems: Problem[] = []
  let isWhole = true
  const input: AdapterInput = { ctx, chain, snapshot, wallet, block: () => head, openRequests, once }
  const asking = askAdapters(ctx, ask.adapters, input, budget, problems)
  const tokens = tokensOf(snapshot)(chainId)
  const reader = createReader(chain, head)
  const data = balanceCall(wallet)
  const balances = await inSlices(
    mapInSteps(tokens, ({ address }) =>
      // Of the native token the length of the wallet's code is answered as well.
      reader.add(address === native ? { target: wallet, data: '0x' } : { target: address as Address, data }),
    ),
    turns,
  )
  const asked = await asking
  if (asked.length < ask.adapters.length) isWhole = false
  let round = await placeAll(reader, asked)
  const block = await head
  await budget.within(reader.run(), 'read')
  const idle = tokens.flatMap((token, at): Idle[] => {
    const raw = parseBalance(token, reader.answerOf(balances[at] ?? -1))
    if (raw === undefined) {
      const error = `the token ${token.symbol || '?'} (${token.address}) does not answer its balance`
      problems.push({ chainId, source: 'rpc', error })
    }
    return raw === undefined || raw === 0n ? [] : [{ token, raw }]
  })
  const found: Found[] = []
  const shares = new Map<string, ShareOf>()
  for (let turn = 0; turn < roundsMax && round.length > 0; turn++) {
    if (turn > 0) await budget.within(reader.run(), 'read')
    const next: Asked[] = []
    for (const { name, read, places } of round) {
      const answer = tryAnswer(ctx, name, read, places.map(reader.answerOf))
      if (!answer) {
        isWhole = false
        problems.push({ chainId, source: `adapter:${name}`, error: 'the adapter failed; its rows are left out' })
        continue
      }
      found.push(...answer.items.map((item) => ({ adapter: name, item })))
      for (const error of answer.problems ?? []) problems.push({ chainId, source: `adapter:${name}`, error })
      for (const [token, share] of answer.shares ?? []) shares.set(token, share)
      const { more } = answer
      if (more) next.push({ name, read: more })
    }
    round = await placeAll(reader, next)
  }
  for (const { name } of round) {
    const error = `the adapter wants to know more after ${roundsMax} rounds; what it asks beyond them is left out`
    problems.push({ chainId, source: `adapter:${name}`, error })
  }
  const pricing = await priceAll(ctx, { chainId, snapshot, block, idle, found, shares, budget, problems })
  return { chainId, block, idle, found, shares, pricing, problems, isLasting: isWhole && pricing.isKnown }
}

/** A chain nothing could be read of. */
export function unreadable(chainId: number, error: string): ChainHoldings {
  return {
    ...{ chainId, block: undefined, idle: [], found: [], shares: new Map() },
    pricing: createPricing(new Map(), new Map(), true),
    ...{ problems: [{ chainId, source: 'rpc', error }], isLasting: false },
  }
}

/** The latest block of a chain. */
export async function readBlockRef(chain: Chain): Promise<BlockRef> {
  const { number, hash, timestamp } = await readHead(chain)
  return { number, hash, timestamp }
}

/** The reason of a failure, for the caller; the texts of foreign errors are not shown. */
export function describeFailure(error: unknown, otherwise: string): string {
  return error instanceof EarnError || error instanceof TooLate ? error.message : otherwise
}

type Asked = { name: string; read: Read<AdapterAnswer> }

async function askAdapters(
  ctx: PortfolioContext,
  adapters: readonly Adapter[],
  input: AdapterInput,
  budget: Budget,
  problems: Problem[],
): Promise<Asked[]> {
  const asked = await Promise.all(
    adapters.map(async (adapter): Promise<Asked[]> => {
      const { name } = adapter
      try {
        return [{ name, read: await budget.within(adapter.ask(input), 'ask') }]
      } catch (error) {
        ctx.log.warn({ err: error, adapter: name }, 'an adapter of portfolios failed')
        const said = `the adapter failed: ${describeFailure(error, 'its rows are left out')}`
        problems.push({ chainId: input.chain.chainId, source: `adapter:${name}`, error: said })
        return []
      }
    }),
  )
  return asked.flat()
}

function tryAnswer(
  ctx: PortfolioContext,
  adapter: string,
  read: Read<AdapterAnswer>,
  results: readonly (Hex | undefined)[],
): AdapterAnswer | undefined {
  try {
    return read.answer(results)
  } catch (error) {
    ctx.log.warn({ err: error, adapter }, 'an adapter of portfolios failed')
    return undefined
  }
}

/** Of each chain the native token and the listed ones. */
const tokensOf = memo((snapshot: CatalogueSnapshot) =>
  memo((chainId: number): readonly TokenRecord[] => {
    const native = getNativeToken(snapshot, chainId)
    const others = [...snapshot.tokens.values()].filter(
      (token) => token.chainId === chainId && token.address !== native.address && isListedToken(snapshot, token),
    )
    return [native, ...others]
  }),
)

const native = nativeToken.toLowerCase()

/** Of the native token only the first word is its balance. */
function parseBalance({ address }: TokenRecord, result: Hex | undefined): bigint | undefined {
  return parseWord(address === native ? (result?.slice(0, 66) as Hex | undefined) : result)
}

type Placed = Asked & { places: number[] }

/** The reads of the adapters, with their places among all reads. */
async function placeAll(reader: ReturnType<typeof createReader>, asked: readonly Asked[]): Promise<Placed[]> {
  const placed: Placed[] = []
  for (const { name, read } of asked)
    placed.push({ name, read, places: await inSlices(mapInSteps(read.reads, reader.add), turns) })
  return placed
}

/** Reads of one block; equal reads are sent once. `add` returns the place of the result. */
function createReader(chain: Chain, head: Promise<BlockRef>) {
  const places = new Map<string, number>()
  const reads: RawRead[] = []
  const answers: (Hex | undefined)[] = []
  return {
    add: (read: RawRead): number => {
      const key = `${read.target.toLowerCase()} ${read.data}`
      const known = places.get(key)
      if (known !== undefined) return known
      places.set(key, reads.length)
      return reads.push(read) - 1
    },
    run: async (): Promise<void> => {
      const wanted = reads.slice(answers.length)
      answers.push(...(await readBatch(chain, wanted, await head)))
    },
    answerOf: (place: number): Hex | undefined => answers[place],
  }
}

type PriceAll = Pick<ChainHoldings, 'chainId' | 'idle' | 'found'> & {
  snapshot: CatalogueSnapshot
  block: BlockRef
  shares: ReadonlyMap<string, ShareOf>
  budget: Budget
  problems: Problem[]
}

/** Prices of all holdings at the time of the block; holdings without a price are named. */
async function priceAll(ctx: PortfolioContext, all: PriceAll): Promise<Pricing> {
  const { chainId, snapshot, block, idle, found, shares, budget, problems } = all
  const wrapped = snapshot.chains.get(chainId)?.wrappedNative?.toLowerCase()
  const held = listPriced(idle, found)
  const wanted = new Set(held.keys())
  if (wrapped && wanted.has(native)) wanted.add(wrapped)
  // The asset of a share may itself be a share.
  for (const address of wanted) {
    const share = shares.get(address)
    if (share) wanted.add(share.asset)
  }
  const at = new Date(block.timestamp * 1_000)
  try {
    const prices = await budget.within(ctx.portfolio.findPrices(ctx.db, chainId, [...wanted], at), 'price')
    const observed = new Map([...prices].map(([address, { priceUsd }]) => [address, priceUsd]))
    const pricing = createPricing(priceNative(observed, { native, wrapped }), shares, true)
    const without = [...held].filter(([address]) => pricing.priceOf(address) === undefined).map(([, symbol]) => symbol)
    if (without.length > 0) problems.push({ chainId, source: 'price', error: describeUnpriced(without) })
    return pricing
  } catch (error) {
    ctx.log.warn({ err: error, chainId }, 'prices of a portfolio could not be read')
    problems.push({ chainId, source: 'price', error: describeFailure(error, 'prices cannot be read right now') })
    return createPricing(new Map(), shares, false)
  }
}

function describeUnpriced(symbols: readonly string[]): string {
  const named = symbols.slice(0, namedMax).join(', ')
  const rest = symbols.length > namedMax ? ` and ${symbols.length - namedMax} more` : ''
  return `no price at this block: ${named}${rest}`
}
