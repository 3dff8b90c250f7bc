import { createHash } from 'node:crypto'
import type { Address } from 'viem'
import { memo } from '../../kernel/async/memo.js'
import { invalidArgument } from '../../kernel/errors.js'
import { PreparedBody } from '../../kernel/operation.js'
import { formatAddress } from '../../wallets/format.js'
import type { Budget } from './budget.js'
import type { Earned, PortfolioContext, Problem } from './context.js'
import { toEarned } from './earned.js'
import { listEarnings } from './earnings.js'
import { findWallet } from './ecosystem.js'
import { describeFailure } from './holdings.js'
import { keptMs, readWallet, rowBytes, startHeads, startPortfolio, type WalletHoldings } from './portfolio.js'
import { toWalletBody } from './rows.js'
import type { PortfolioBody } from './schema.js'
import { type FlowVault, findMarks } from './storeMarks.js'

const malformed =
  'address must be an EVM address (0x and 40 hex digits), a Solana address (base58 of 32 bytes) or a TON address'

type Input = { address: string; includeProtocolTokens?: boolean }

/**
 * The holdings of a wallet on all configured chains, and its earnings. Each value counts once. All values of a chain are of one
 * block, which is named. Failed reads are named in `errors`; the rest is right.
 */
export async function getWalletPortfolio(ctx: PortfolioContext, input: Input): Promise<PortfolioBody> {
  return toBody(await tellWallet(ctx, input.address), input.includeProtocolTokens === true)
}

/** An answer as it was sent, and the parts it was made of. */
type Sent = { parts: string; body: PreparedBody }

/** The same as bytes. While every part of it is one that is kept, those sent before are sent again. */
export async function serveWalletPortfolio(ctx: PortfolioContext, input: Input): Promise<PreparedBody> {
  const told = await tellWallet(ctx, input.address)
  const isWith = input.includeProtocolTokens === true
  const { shown, chains, problems, earned, version } = told
  const parts = `${version} ${[earned, ...chains].map(numberOf).join(' ')} ${JSON.stringify(problems)}`
  const shelf = ctx.catalogue.answers.shelf<Sent>('portfolio answer')
  const name = `${shown.address} ${isWith}`
  const sent = shelf.find(name)
  if (sent?.parts === parts) return sent.body
  const bytes = Buffer.from(JSON.stringify(toBody(told, isWith)))
  const body = new PreparedBody([bytes])
  const isLasting = earned.isLasting && chains.every((chain) => chain.isLasting)
  if (isLasting) shelf.keep(name, { parts, body }, bytes.byteLength, keptMs)
  return body
}

let lastNumber = 0

/** A number of its own for each object, so that what was made of it need not hold it. */
const numberOf = memo((_part: object) => ++lastNumber)

/** All data of a response, before the filters of the caller. */
type Told = WalletHoldings & { shown: ReturnType<typeof readAddress>; earned: Earned; version: number | string }

async function tellWallet(ctx: PortfolioContext, text: string): Promise<Told> {
  const shown = readAddress(text, ctx.config)
  const { version } = ctx.catalogue.current()
  const { ecosystem, address } = shown
  if (ecosystem !== 'evm')
    return { shown, version, chains: [], problems: [noSource(ecosystem)], unwatched: [], earned: nothing }
  const wallet = address.toLowerCase() as Address
  const budget = startPortfolio(ctx)
  startHeads(ctx)
  const marks = await findMarks(ctx.db, wallet)
  const [holdings, earned] = await Promise.all([
    readWallet(ctx, wallet, marks, budget),
    tellEarnings(ctx, wallet, marks.flowVaults, budget),
  ])
  return { ...holdings, shown, version, earned }
}

/** A wallet as it is shown. */
function readAddress(text: string, network: Parameters<typeof findWallet>[1]) {
  const wallet = findWallet(text, network)
  if (!wallet) throw invalidArgument(malformed)
  const { ecosystem, address } = wallet
  return { ecosystem, address: ecosystem === 'evm' ? formatAddress(address) : address }
}

const nothing: Earned = { rows: [], problems: [], isLasting: true }

/** Earnings by the opportunity's name; if they cannot be computed now, holdings are returned without them. */
async function tellEarnings(
  ctx: PortfolioContext,
  wallet: string,
  vaults: readonly FlowVault[],
  budget: Budget,
): Promise<Earned> {
  try {
    return await budget.within(readEarnings(ctx, wallet, vaults), 'earnings')
  } catch (error) {
    ctx.log.warn({ err: error }, 'the earnings of a wallet could not be told')
    const said = describeFailure(error, 'earnings cannot be told right now')
    return { rows: [], problems: [{ chainId: null, source: 'earnings', error: said }], isLasting: false }
  }
}

/** Earnings as they are kept of these flows, as they are being read for somebody else, or read now. */
async function readEarnings(ctx: PortfolioContext, wallet: string, vaults: readonly FlowVault[]): Promise<Earned> {
  const shelf = ctx.catalogue.answers.shelf<Earned>('portfolio earnings')
  if (vaults.length === 0) return nothing
  const snapshot = ctx.catalogue.current()
  const states = createHash('sha256')
  for (const { id, state } of vaults) states.update(`${id} ${state} `)
  const name = `${wallet} ${snapshot.version} ${states.digest('base64')}`
  const known = shelf.find(name)
  if (known) return known
  return ctx.portfolio.earningsUnderWay(name, async () => {
    const earned = toEarned(snapshot, await listEarnings(ctx, wallet, vaults))
    shelf.keep(name, earned, (1 + earned.rows.length) * rowBytes, keptMs)
    return earned
  })
}

function noSource(ecosystem: string): Problem {
  return { chainId: null, source: 'ecosystem', error: `no source of holdings is configured for ${ecosystem}` }
}

function toBody({ earned, ...told }: Told, includeProtocolTokens: boolean): PortfolioBody {
  const problems = [...told.problems, ...earned.problems]
  const wallet = toWalletBody(told.shown, { ...told, problems }, includeProtocolTokens)
  return {
    portfolio: { productsEarnings: [...earned.rows], holdings: { totalUsd: wallet.totalUsd, wallets: [wallet] } },
  }
}
