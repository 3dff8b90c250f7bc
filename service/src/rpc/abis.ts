import { parseAbi, toEventSelector } from 'viem'

/** First topic of an ERC-20 Transfer. */
export const transferTopic: string = toEventSelector(
  'event Transfer(address indexed from, address indexed to, uint256 amount)',
)

/** The ERC-20 that wraps the native token of a chain, one for one (WETH9). */
export const wrappedAbi = parseAbi(['function deposit() payable', 'function withdraw(uint256 amount)'])

/** Names of tokens from before ERC-20 said that they are strings. */
export const bytesTextAbi = parseAbi([
  'function symbol() view returns (bytes32)',
  'function name() view returns (bytes32)',
])

/** The views of the settlement contract of swap orders (GPv2), and the calls by which an owner ends an order. */
export const settlementAbi = parseAbi([
  'function vaultRelayer() view returns (address)',
  'function domainSeparator() view returns (bytes32)',
  'function filledAmount(bytes orderUid) view returns (uint256)',
  'function invalidateOrder(bytes orderUid)',
])
