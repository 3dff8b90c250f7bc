import { type Address, parseAbi } from 'viem'
import { formatUnits } from '../kernel/amount.js'
import { combine, type Read, readContract } from '../rpc/multicall.js'
import type { Header } from '../rpc/raw.js'
import { type NewObservation, ranks, type TokenKey } from './store.js'

/** A Chainlink feed of a token's price in US dollars. */
export type Feed = TokenKey & { feed: Address; heartbeatSeconds: number }

/** AggregatorV3Interface, and what its proxies and aggregators say of phases. */
export const feedAbi = parseAbi([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)',
  'function getRoundData(uint80 roundId) view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)',
  'function phaseAggregators(uint16 phaseId) view returns (address aggregator)',
  'function latestRound() view returns (uint256 roundId)',
])

export type Round = readonly [
  roundId: bigint,
  answer: bigint,
  startedAt: bigint,
  updatedAt: bigint,
  answeredInRound: bigint,
]

export type FeedAnswer = { decimals: number | undefined; round: Round | undefined }

/** The present round of a feed. */
export function askFeed({ feed }: Feed): Read<FeedAnswer> {
  return combine({
    decimals: readContract(feed, feedAbi, 'decimals', []),
    round: readContract(feed, feedAbi, 'latestRoundData', []),
  })
}

/** A past round of a feed. */
export function askRound({ feed }: Feed, roundId: bigint): Read<Round | undefined> {
  return readContract(feed, feedAbi, 'getRoundData', [roundId])
}

const decimalsMax = 36
/** Above every price; an answer beyond it is no price. */
const answerMax = 10n ** 60n

/** Why a round tells no price, as a sentence; undefined when it does. */
export function judgeRound(
  { decimals, round }: FeedAnswer,
  block: Pick<Header, 'timestamp'>,
  asked?: bigint,
): string | undefined {
  if (decimals === undefined || round === undefined) return 'the feed does not answer as a Chainlink feed does'
  const [roundId, answer, , updatedAt, answeredInRound] = round
  if (decimals > decimalsMax) return `the feed says that it has ${decimals} decimals`
  if (asked !== undefined && roundId !== asked) return 'the feed answered another round than asked'
  if (answer <= 0n || answer > answerMax) return 'the answer of the feed is no price'
  if (updatedAt <= 0n) return 'the round of the feed is not complete'
  if (updatedAt > BigInt(block.timestamp)) return 'the feed says that it was updated after the block it is read at'
  if (answeredInRound < roundId) return 'the answer of the feed was carried over from an earlier round'
  return undefined
}

/** Where the observations of a feed come from. */
export function toSource({ feed }: Pick<Feed, 'feed'>): string {
  return `feed:${feed.toLowerCase()}`
}

/** The price a feed told, as of the time of its round; none where the answer is not one. */
export function observeFeed(
  feed: Feed,
  answer: FeedAnswer | undefined,
  block: Pick<Header, 'number' | 'hash' | 'timestamp'>,
  asked?: bigint,
): NewObservation[] {
  const { decimals, round } = answer ?? {}
  if (decimals === undefined || !round || judgeRound({ decimals, round }, block, asked) !== undefined) return []
  const updatedAt = Number(round[3])
  return [
    {
      chainId: feed.chainId,
      address: feed.address,
      priceUsd: formatUnits(round[1], decimals),
      source: toSource(feed),
      observedAt: new Date(updatedAt * 1_000),
      validUntil: new Date((updatedAt + 2 * feed.heartbeatSeconds) * 1_000),
      rank: ranks.feed,
      blockNumber: block.number,
      blockHash: block.hash,
    },
  ]
}
