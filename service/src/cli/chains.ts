import { recordChain, removeChain } from '../features/catalogue/operator/index.js'
import { isRpcUrl } from '../kernel/config.js'
import { redactUrls } from '../kernel/log.js'
import { createOutbound } from '../kernel/outbound.js'
import type { Queryable } from '../postgres/pool.js'
import { openChain } from '../rpc/chains.js'
import { createNode } from '../rpc/node.js'
import { WrongChain } from '../rpc/rpc.js'
import { listChainSettings } from '../rpc/storeChains.js'
import { describeCallsADay, estimateCallsADay } from '../server/callsADay.js'
import { listProjections } from '../server/projections.js'
import { refetchRange } from '../sync/refetch.js'
import { rewindChain } from '../sync/rewind.js'
import { findCursor } from '../sync/storeCursors.js'
import { changing, withContext } from './command.js'
import { answer, type Command, parseFlags, parseWhole, print, printTable, requireFlag, UsageError } from './terminal.js'
import { openUnlisted } from './unlisted.js'

const usage = `openearn chains add CHAIN_ID --name TEXT --rpc URL [--rpc URL]… [--slug TEXT] [--confirmations N]
                             [--metadata-only] [--l1-gas-in-limit]
  a new chain, or other urls of a known one; confirmations are 12 where nobody said otherwise. --l1-gas-in-limit: the
  chain pays for posting to another chain with the transaction's own gas (Arbitrum), so the node's estimate is asked for
  every http url is asked for its chain id: one of another chain is refused, one that does not answer is taken with a word;
  what following the chain costs its node a day is told
openearn chains list
openearn chains remove CHAIN_ID    a chain that nothing was read of and that has no tokens and vaults
openearn chains rewind CHAIN_ID --to BLOCK   take back everything above a block, final or not; the watcher reads it again
openearn chains refetch CHAIN_ID --from BLOCK --to BLOCK
  asks a node again for these blocks, compares their logs with those kept, and repairs and derives again what differs; the
  service may run meanwhile, and after a break the same command goes on where it stopped`

export const chains: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'add') return add(words)
    if (verb === 'list') return list(words)
    if (verb === 'remove') return remove(words)
    if (verb === 'rewind') return rewind(words)
    if (verb === 'refetch') return refetch(words)
    throw new UsageError(`chains: say add, list, remove, rewind or refetch\n${usage}`)
  },
}

async function add(words: string[]): Promise<void> {
  const { values, positionals } = parseFlags(
    words,
    {
      name: { type: 'string' },
      slug: { type: 'string' },
      rpc: { type: 'string', multiple: true },
      confirmations: { type: 'string' },
      'metadata-only': { type: 'boolean' },
      'l1-gas-in-limit': { type: 'boolean' },
    },
    1,
  )
  const chainId = parseWhole(positionals[0], 1)
  if (chainId === undefined) throw new UsageError('chains add: give the chain id first')
  const name = requireFlag(values.name, 'name')
  const confirmations = parseWhole(values.confirmations, 1)
  if (values.confirmations !== undefined && confirmations === undefined)
    throw new UsageError('--confirmations must be a whole number from 1')
  const rpcUrls = values.rpc ?? []
  if (!rpcUrls.every(isRpcUrl)) throw new UsageError('--rpc must be an http, https, ws or wss url')
  const watched = values['metadata-only'] !== true
  if (watched && rpcUrls.length === 0) throw new UsageError('--rpc is missing (or say --metadata-only)')
  const paces: number[] = []
  for (const url of rpcUrls) paces.push(...(await assertServes(chainId, url)))
  const slug = values.slug ?? name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  await withContext(async (ctx) => {
    const { db } = changing(ctx, ['chains', 'add', ...words], (tx) => readChain(tx, chainId))
    const l1GasInLimit = values['l1-gas-in-limit']
    await recordChain(db, { chainId, name, slug, rpcUrls, confirmations, watched, l1GasInLimit })
    const [blockSeconds] = paces
    const pollIntervalMs = (await listChainSettings(db)).find((each) => each.chainId === chainId)?.pollIntervalMs
    const pace =
      watched && blockSeconds !== undefined && pollIntervalMs !== undefined
        ? {
            blockSeconds,
            pollSeconds: pollIntervalMs / 1_000,
            isAnnounced: rpcUrls.some((url) => url.startsWith('ws')),
          }
        : undefined
    answer({ chainId, watched, callsADay: pace ? estimateCallsADay(pace) : null }, [
      `${chainId}: ${watched ? 'watched from the next start on' : 'metadata only'}`,
      ...(pace ? [describeCallsADay(pace)] : []),
    ])
  })
}

/** Blocks back that the mean time between two is taken from. */
const paceBlocks = 1_000

/**
 * Refuses a url that serves another chain. One that does not answer may do so later. Resolves to the mean seconds between
 * two blocks of one that does.
 */
async function assertServes(chainId: number, url: string): Promise<number[]> {
  if (!url.startsWith('http')) return []
  try {
    const node = createNode(openUnlisted(chainId, [url]).rpc)
    const head = await node.findHeader('latest')
    const before = head && (await node.findHeader(Math.max(0, head.number - paceBlocks)))
    if (!head || !before || before.number === head.number) return []
    return [(head.timestamp - before.timestamp) / (head.number - before.number)]
  } catch (error) {
    if (error instanceof WrongChain) throw new UsageError(`${redactUrls(url)} ${error.message}`)
    print(
      `${redactUrls(url)} was not asked for its chain id: ${error instanceof Error ? redactUrls(error.message) : error}`,
    )
    return []
  }
}

async function remove(words: string[]): Promise<void> {
  const chainId = parseWhole(parseFlags(words, {}, 1).positionals[0], 1)
  if (chainId === undefined) throw new UsageError('chains remove: give the chain id first')
  await withContext(async (ctx) => {
    const { db } = changing(ctx, ['chains', 'remove', ...words], (tx) => readChain(tx, chainId))
    const removed = await removeChain(db, chainId)
    if (removed === 'absent') throw new UsageError(`there is no chain ${chainId}`)
    if (removed === 'used')
      throw new UsageError(
        `the chain ${chainId} has blocks, tokens or vaults; \`openearn chains add ${chainId} --name NAME --metadata-only\` stops watching it`,
      )
    answer({ chainId, removed: true }, [`${chainId}: removed`])
  })
}

async function list(words: string[]): Promise<void> {
  parseFlags(words, {})
  await withContext(async ({ db }) => {
    const rows = await listChainSettings(db)
    printTable(
      ['CHAIN', 'NAME', 'WATCHED', 'ACTIVE', 'CONFIRMATIONS', 'RPC'],
      rows.map((row) => [
        String(row.chainId),
        row.name,
        row.watched ? 'yes' : 'no',
        row.active ? 'yes' : 'no',
        String(row.confirmations),
        row.rpcUrls.map(redactUrls).join(' '),
      ]),
      rows.map((row) => ({ ...row, rpcUrls: row.rpcUrls.map(redactUrls) })),
    )
  })
}

async function rewind(words: string[]): Promise<void> {
  const { values, positionals } = parseFlags(words, { to: { type: 'string' } }, 1)
  const chainId = parseWhole(positionals[0], 1)
  if (chainId === undefined) throw new UsageError('chains rewind: give the chain id first')
  const to = parseWhole(requireFlag(values.to, 'to'), 0)
  if (to === undefined) throw new UsageError('--to must be a block number')
  await withContext(async (ctx) => {
    if (!(await findCursor(ctx.db, chainId))) throw new UsageError(`the chain ${chainId} was never watched`)
    const look = (tx: Queryable) => readPlace(tx, chainId)
    const changed = changing(ctx, ['chains', 'rewind', ...words], look)
    const { blockNumber, removedBlocks } = await rewindChain(changed, { chainId, projections: listProjections(), to })
    const said = `${chainId}: back at block ${blockNumber}; ${removedBlocks} blocks are read again`
    answer({ chainId, blockNumber, removedBlocks }, [said])
  })
}

async function refetch(words: string[]): Promise<void> {
  const { values, positionals } = parseFlags(words, { from: { type: 'string' }, to: { type: 'string' } }, 1)
  const chainId = parseWhole(positionals[0], 1)
  if (chainId === undefined) throw new UsageError('chains refetch: give the chain id first')
  const from = parseWhole(requireFlag(values.from, 'from'), 0)
  const to = parseWhole(requireFlag(values.to, 'to'), 0)
  if (from === undefined || to === undefined) throw new UsageError('--from and --to must be block numbers')
  if (from > to) throw new UsageError('--from must not be after --to')
  await withContext(async (ctx) => {
    const cursor = await findCursor(ctx.db, chainId)
    const settings = (await listChainSettings(ctx.db)).find((chain) => chain.chainId === chainId)
    if (!cursor || !settings) throw new UsageError(`the chain ${chainId} was never watched`)
    if (to > cursor.blockNumber)
      throw new UsageError(`--to must not be after block ${cursor.blockNumber}: the chain is read up to there`)
    const rpcUrls = ctx.config.rpcUrls.get(chainId) ?? settings.rpcUrls
    const node = createNode(openChain(createOutbound(ctx.clock), { ...settings, rpcUrls }).rpc.as('refetch'))
    let saidAt = 0
    const look = (tx: Queryable) => readPlace(tx, chainId)
    const changed = changing(ctx, ['chains', 'refetch', ...words], look, { always: true })
    const done = await refetchRange(changed, {
      chainId,
      projections: listProjections(),
      from,
      to,
      node,
      onProgress: ({ doneTo, blocks, seconds, secondsLeft }) => {
        if (seconds - saidAt < 2) return
        saidAt = seconds
        const percent = Math.floor(((doneTo - from + 1) / (to - from + 1)) * 100)
        const rate = Math.round(blocks / seconds)
        print(
          `${chainId}: ${percent} %, block ${doneTo} of ${to}, ${rate} blocks a second, ${Math.ceil(secondsLeft)} s left`,
        )
      },
    })
    await changed.conclude(done)
    const { missingLogs, extraLogs, firstWrong } = done
    answer({ chainId, from, to, missingLogs, extraLogs, firstWrong }, [
      firstWrong === null
        ? `${chainId}: blocks ${from} to ${to} are whole: nothing was missing`
        : `${chainId}: ${missingLogs} logs were missing and ${extraLogs} were of no block, the first at block ${firstWrong}: repaired, and derived again from there`,
    ])
  })
}

/** How a chain is read, without what its urls hide. */
async function readChain(tx: Queryable, chainId: number): Promise<unknown> {
  const found = (await listChainSettings(tx)).find((chain) => chain.chainId === chainId)
  return found && { ...found, rpcUrls: found.rpcUrls.map(redactUrls) }
}

/** Where a chain stands. */
async function readPlace(tx: Queryable, chainId: number): Promise<unknown> {
  const cursor = await findCursor(tx, chainId)
  return cursor && { chainId, blockNumber: cursor.blockNumber, blockHash: cursor.blockHash }
}
