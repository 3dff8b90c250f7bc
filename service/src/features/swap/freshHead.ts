import { unavailable } from '../../kernel/errors.js'
import type { Context } from '../../postgres/context.js'
import { readHead } from '../../rpc/blocks.js'
import type { Chain } from '../../rpc/chains.js'
import type { Header } from '../../rpc/raw.js'
import { readMeanBlockSeconds } from '../../sync/storeRaw.js'

/** How far the newest block of a node may be behind the wall clock: the longer of the two. */
const lag = { blocks: 10, leastSeconds: 60 }

/**
 * The newest block of a chain, for a plan whose deadline counts from it. A node that is too late is a 503: its balances and prices
 * are of another time, and what is signed by them may fail. A chain that keeps its own clock is never late.
 */
export async function readFreshHead(ctx: Pick<Context, 'db' | 'clock'>, chain: Chain): Promise<Header> {
  const head = await readHead(chain)
  if (chain.clock === 'chain') return head
  const behind = Math.floor(ctx.clock.now().getTime() / 1_000) - head.timestamp
  if (behind <= lag.leastSeconds) return head
  if (behind <= lag.blocks * (await readMeanBlockSeconds(ctx.db, chain.chainId))) return head
  const why = `the node of ${chain.name} is behind: its newest block, ${head.number}, is ${behind} s old; try again shortly`
  throw unavailable(why, { context: { retryable: true, headBlock: head.number, behindSeconds: behind } })
}
