import { type Address, decodeAbiParameters, parseAbi } from 'viem'
import { multicallMany } from '../../../rpc/manyReads.js'
import { combine, combineAll, mapRead, type Read, readContract, requestRead } from '../../../rpc/multicall.js'
import { answers } from '../../../rpc/wire.js'
import { findToken, readToken } from '../../catalogue/index.js'
import {
  type Adapter,
  type AdapterInput,
  type Amount,
  balanceCall,
  type Item,
  parseWord,
  type ShownToken,
} from '../adapter.js'
import { toSlug } from '../protocol.js'

const providerAbi = parseAbi([
  'function getReserveTokensAddresses(address asset) view returns (address aToken, address stableDebt, address variableDebt)',
])
/** `getReservesList()`. */
const reservesCall = '0xd1946dbc'
const reservesMax = 256
/** Time after which a newly listed reserve is seen. */
const reservesMs = 600_000

type Market = { pool: string; dataProvider: string; name?: string }

/** A token that a market lends, and the tokens that stand for what is lent and owed of it. */
type Reserve = { token: ShownToken; aToken: string; debts: string[] }

/** The reserves of a market; `problems` name reserves that could not be read. */
type Told = { reserves: Reserve[]; problems: string[] }

type Known = { told: Promise<Told>; untilMs: number }

/**
 * Aave V3 and its forks: the supplied and borrowed amounts of a wallet, with interest up to the block. The markets are the
 * chain's `lending.aaveV3`. Their reserves are read once in ten minutes, or again at once if one could not be read; the
 * positions are read with the other reads of the portfolio.
 */
export function createAaveV3Adapter(): Adapter {
  const known = new Map<string, Known>()
  const listReserves = (input: AdapterInput, market: Market): Promise<Told> => {
    const key = `${input.chain.chainId} ${market.pool} ${market.dataProvider} ${input.snapshot.version}`
    const now = input.ctx.clock.monotonicMs()
    const found = known.get(key)
    if (found && found.untilMs > now) return found.told
    const told = readReserves(input, market)
    known.set(key, { told, untilMs: now + reservesMs })
    const forget = () => known.delete(key)
    told.then(({ problems }) => problems.length > 0 && forget(), forget)
    for (const [each, { untilMs }] of known) if (untilMs <= now) known.delete(each)
    return told
  }
  return {
    name: 'aave-v3',
    ask: async (input) => {
      const markets = input.snapshot.chains.get(input.chain.chainId)?.lending?.aaveV3 ?? []
      const asked = await Promise.all(
        markets.map(async (market) => askMarket(input, market, await listReserves(input, market))),
      )
      return mapRead(combineAll(asked), (told) => ({
        items: told.flatMap(({ items }) => items),
        problems: told.flatMap(({ problems }) => problems),
      }))
    },
  }
}

async function readReserves(input: AdapterInput, { pool, dataProvider }: Market): Promise<Told> {
  const { chain, snapshot, block } = input
  const at = { blockHash: (await block()).hash }
  const list = await requestRead(chain, answers.bytes.parse, 'eth_call', [{ to: pool, data: reservesCall }, at])
  const [assets] = decodeAbiParameters([{ type: 'address[]' }], list)
  if (assets.length > reservesMax) throw new Error(`the market ${pool} names ${assets.length} reserves`)
  const reads = assets.map((asset) =>
    combine({
      tokens: readContract(dataProvider as Address, providerAbi, 'getReserveTokensAddresses', [asset]),
      described: readToken(chain.chainId, asset),
    }),
  )
  const { answers: told } = await multicallMany(chain, reads, at, 40)
  const problems: string[] = []
  const reserves = assets.flatMap((asset, index) => {
    const { tokens, described } = told[index]?.answer ?? {}
    const token = findToken(snapshot, chain.chainId, asset) ?? described
    if (!tokens || !token) {
      problems.push(`the market ${pool} does not tell what is lent and owed of ${asset.toLowerCase()}`)
      return []
    }
    const [aToken, ...debts] = tokens.map((each) => each.toLowerCase())
    const { symbol, name, decimals, logoUrl } = token
    return [
      {
        token: { address: asset.toLowerCase(), symbol, name, decimals, logoUrl },
        aToken: aToken ?? '',
        debts: debts.filter((debt) => BigInt(debt) > 0n),
      },
    ]
  })
  return { reserves, problems }
}

type MarketAnswer = { items: Item[]; problems: string[] }

function askMarket({ wallet }: AdapterInput, market: Market, { reserves, problems: untold }: Told): Read<MarketAnswer> {
  const data = balanceCall(wallet)
  const balanceOf = (token: string): Read<bigint | undefined> => ({
    reads: [{ target: token as Address, data }],
    answer: ([result]) => parseWord(result),
  })
  const reads = reserves.map(({ aToken, debts }) =>
    combine({ supplied: balanceOf(aToken), owed: combineAll(debts.map(balanceOf)) }),
  )
  return mapRead(combineAll(reads), (told) => {
    const problems = [...untold]
    const amountOf = (token: ShownToken, explains: string, raw: bigint | undefined): Amount[] => {
      if (raw === undefined) problems.push(`${explains} of ${token.symbol} does not answer its balance`)
      return raw === undefined || raw === 0n ? [] : [{ token, raw, explains }]
    }
    const supplied = reserves.flatMap(({ token, aToken }, at) => amountOf(token, aToken, told[at]?.supplied))
    const borrowed = reserves.flatMap(({ token, debts }, at) =>
      debts.flatMap((debt, of) => amountOf(token, debt, told[at]?.owed[of])),
    )
    const name = market.name ?? 'Aave V3'
    const item: Item = {
      ...{ protocol: { id: toSlug(name) || 'aave-v3', name, siteUrl: '', logoUrl: '' }, name, type: 'lending' },
      ...{ opportunityId: null, pool: market.pool, description: '', supplied, borrowed, rewards: [] },
    }
    return { items: supplied.length + borrowed.length > 0 ? [item] : [], problems }
  })
}
