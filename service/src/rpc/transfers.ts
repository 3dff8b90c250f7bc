import { pad, toEventSelector } from 'viem'
import { transferTopic } from './abis.js'
import type { Chain } from './chains.js'
import { requestRead } from './multicall.js'
import { answers, toLogs, toQuantity } from './wire.js'

/** Events of the ERC-20 that wraps the native token, when it mints and burns: it makes no Transfer then. */
const wrapTopics = [toEventSelector('Deposit(address,uint256)'), toEventSelector('Withdrawal(address,uint256)')]

/** Blocks whose logs are asked for at once; nodes that bound a question take this many. */
const windowBlocks = 10_000

export type TransfersAsk = {
  wallet: string
  /** Lower-case. */
  tokens: readonly string[]
  from: number
  to: number
}

/**
 * Hashes of the transactions in [from, to] in which tokens moved from or to a wallet, oldest first. A node that refuses or
 * does not answer is a 503.
 */
export async function listTransfersOf(chain: Pick<Chain, 'name' | 'rpc'>, ask: TransfersAsk): Promise<string[]> {
  if (ask.tokens.length === 0) return []
  const wallet = pad(ask.wallet as `0x${string}`, { size: 32 })
  const hashes = new Set<string>()
  for (let from = ask.from; from <= ask.to; from += windowBlocks) {
    const to = Math.min(from + windowBlocks - 1, ask.to)
    const place = { fromBlock: toQuantity(from), toBlock: toQuantity(to), address: ask.tokens }
    const read = (topics: readonly unknown[]) =>
      requestRead(chain, (value) => toLogs(answers.logs.parse(value)), 'eth_getLogs', [{ ...place, topics }])
    const [out, into] = await Promise.all([
      read([[transferTopic, ...wrapTopics], wallet]),
      read([[transferTopic], null, wallet]),
    ])
    const logs = [...out, ...into].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
    for (const { transactionHash } of logs) hashes.add(transactionHash)
  }
  return [...hashes]
}
