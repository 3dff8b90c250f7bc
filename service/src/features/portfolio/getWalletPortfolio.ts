import { createHash } from 'node:crypto'
import type { Address } from 'viem'
import { memo } from '../../kernel/async/memo.js'
import { invalidArgument } from '../../kernel/errors.js'
import { PreparedBody } from '../../kernel/operation.js'
import { formatAddress } from '../../wallets/format.js'
import type { CatalogueSnapshot } from '../catalogue/index.js'
import type { Budget } from './budget.js'
import type { Earned, FlowSums, PortfolioContext, Problem } from './context.js'
import { toEarned } from './earned.js'
import { type FindSharePrice, type OpportunityEarning, valueFlows } from './earnings.js'
import { findWallet } from './ecosystem.js'
import { describeFailure } from './holdings.js'
import { keptMs, readWallet, rowBytes, startHeads, startPortfolio, type WalletHoldings } from './portfolio.js'
import { computeInRange, type RangeInput, readEarnedRange, sumInRange } from './range.js'
import { toWalletBody } from './rows.js'
import type { PortfolioBody } from './schema.js'
import { sumFlows } from './storeEarnings.js'
import { type FlowVault, findMarks } from './storeMarks.js'
import { type Range, type RangeSums, sumRange } from './storeRange.js'

const malformed =
  'address must be an EVM address (0x and 40 hex digits), a Solana address (base58 of 32 bytes) or a TON address'

type Input = RangeInput & { address: string; includeProtocolTokens?: boolean }

/**
 * The holdings of a wallet on all configured chains, and its earnings. Each value counts once. All values of a chain are of one
 * block, which is named. Failed reads are named in `errors`; the rest is right.
 */
export async function getWalletPortfolio(ctx: PortfolioContext, input: Input): Promise<PortfolioBody> {
  return toBody(await tellWallet(ctx, input), input.includeProtocolTokens === true)
}

/** An answer as it was sent, and the parts it was made of. */
type Sent = { parts: string; body: PreparedBody }

/** The same as bytes. While every part of it is one that is kept, those sent before are sent again. */
export async function serveWalletPortfolio(ctx: PortfolioContext, input: Input): Promise<PreparedBody> {
  const told = await tellWallet(ctx, input)
  const isWith = input.includeProtocolTokens === true
  // A range is seldom asked for twice, so its answers are not kept.
  if (told.asked) return new PreparedBody([Buffer.from(JSON.stringify(toBody(told, isWith)))])
  const { shown, chains, problems, sums, snapshot } = told
  const parts = `${snapshot.version} ${[sums, ...chains].map(numberOf).join(' ')} ${JSON.stringify(problems)}`
  const shelf = ctx.catalogue.answers.shelf<Sent>('portfolio answer')
  const name = `${shown.address} ${isWith}`
  const sent = shelf.find(name)
  if (sent?.parts === parts) return sent.body
  const bytes = Buffer.from(JSON.stringify(toBody(told, isWith)))
  const body = new PreparedBody([bytes])
  const isLasting = sums.isLasting && chains.every((chain) => chain.isLasting)
  if (isLasting) shelf.keep(name, { parts, body }, bytes.byteLength, keptMs)
  return body
}

let lastNumber = 0

/** A number of its own for each object, so that what was made of it need not hold it. */
const numberOf = memo((_part: object) => ++lastNumber)

/** All data of a response, before the filters of the caller. */
type Told = WalletHoldings & {
  shown: ReturnType<typeof readAddress>
  sums: FlowSums
  snapshot: CatalogueSnapshot
  asked?: Asked | undefined
}

/** The range that was asked for, with its sums by vault, and a sentence if they could not be read. */
type Asked = { range: Range; byVault: ReadonlyMap<number, RangeSums>; problems: readonly Problem[] }

async function tellWallet(ctx: PortfolioContext, input: Input): Promise<Told> {
  const shown = readAddress(input.address, ctx.config)
  const range = readEarnedRange(input, ctx.clock.now())
  const snapshot = ctx.catalogue.current()
  const { ecosystem, address } = shown
  if (ecosystem !== 'evm')
    return { shown, snapshot, chains: [], problems: [noSource(ecosystem)], unwatched: [], sums: nothing }
  const wallet = address.toLowerCase() as Address
  const budget = startPortfolio(ctx)
  startHeads(ctx)
  const marks = await findMarks(ctx.db, wallet)
  const [holdings, sums, asked] = await Promise.all([
    readWallet(ctx, wallet, marks, budget),
    tellSums(ctx, wallet, marks.flowVaults, budget),
    range && tellRange(ctx, wallet, marks.flowVaults, range, budget),
  ])
  return { ...holdings, shown, snapshot, sums, asked }
}

/** A wallet as it is shown. */
function readAddress(text: string, network: Parameters<typeof findWallet>[1]) {
  const wallet = findWallet(text, network)
  if (!wallet) throw invalidArgument(malformed)
  const { ecosystem, address } = wallet
  return { ecosystem, address: ecosystem === 'evm' ? formatAddress(address) : address }
}

const nothing: FlowSums = { rows: [], problems: [], isLasting: true }

/** The sums of flows; if they cannot be read now, holdings are returned without earnings. */
async function tellSums(
  ctx: PortfolioContext,
  wallet: string,
  vaults: readonly FlowVault[],
  budget: Budget,
): Promise<FlowSums> {
  try {
    return await budget.within(readSums(ctx, wallet, vaults), 'earnings')
  } catch (error) {
    ctx.log.warn({ err: error }, 'the earnings of a wallet could not be told')
    const said = describeFailure(error, 'earnings cannot be told right now')
    return { rows: [], problems: [{ chainId: null, source: 'earnings', error: said }], isLasting: false }
  }
}

/** The sums of a range; if they cannot be read now, rows are returned without them. */
async function tellRange(
  ctx: PortfolioContext,
  wallet: string,
  vaults: readonly FlowVault[],
  range: Range,
  budget: Budget,
): Promise<Asked> {
  try {
    return { range, byVault: await budget.within(sumRange(ctx.db, wallet, vaults, range), 'earnings'), problems: [] }
  } catch (error) {
    ctx.log.warn({ err: error }, 'the earnings of a range could not be told')
    const said = describeFailure(error, 'earnings of the range cannot be told right now')
    return { range, byVault: new Map(), problems: [{ chainId: null, source: 'earnings', error: said }] }
  }
}

/** Sums as they are kept of these flows, as they are being read for somebody else, or read now. */
async function readSums(ctx: PortfolioContext, wallet: string, vaults: readonly FlowVault[]): Promise<FlowSums> {
  const shelf = ctx.catalogue.answers.shelf<FlowSums>('portfolio earnings')
  if (vaults.length === 0) return nothing
  const states = createHash('sha256')
  for (const { id, state } of vaults) states.update(`${id} ${state} `)
  const name = `${wallet} ${ctx.catalogue.current().version} ${states.digest('base64')}`
  const known = shelf.find(name)
  if (known) return known
  return ctx.portfolio.sumsUnderWay(name, async () => {
    const rows = await sumFlows(ctx.db, wallet, vaults, ctx.clock.now())
    const sums: FlowSums = { rows, problems: [], isLasting: true }
    shelf.keep(name, sums, (1 + rows.length) * rowBytes, keptMs)
    return sums
  })
}

/** Earnings by the opportunity's name, at the share prices of the block at which holdings were read. */
function tellEarned({ snapshot, sums, chains, asked }: Told): Earned {
  const shares = new Map(chains.map((chain) => [chain.chainId, chain.shares]))
  const findSharePrice: FindSharePrice = ({ chainId, receiptToken }) => shares.get(chainId)?.get(receiptToken)
  const tellInRange =
    asked &&
    ((earning: OpportunityEarning) => {
      const own = asked.byVault.get(earning.vaultId)
      return own ? computeInRange(earning, own, asked.range) : null
    })
  const { rows, problems } = toEarned(snapshot, valueFlows(snapshot, sums.rows, findSharePrice), tellInRange)
  return { rows, problems: [...sums.problems, ...(asked?.problems ?? []), ...problems] }
}

function noSource(ecosystem: string): Problem {
  return { chainId: null, source: 'ecosystem', error: `no source of holdings is configured for ${ecosystem}` }
}

function toBody(told: Told, includeProtocolTokens: boolean): PortfolioBody {
  const earned = tellEarned(told)
  const problems = [...told.problems, ...earned.problems]
  const wallet = toWalletBody(told.shown, { ...told, problems }, includeProtocolTokens)
  return {
    portfolio: {
      productsEarnings: [...earned.rows],
      ...(told.asked && { inRange: sumInRange(earned.rows, told.asked.range) }),
      holdings: { totalUsd: wallet.totalUsd, wallets: [wallet] },
    },
  }
}
