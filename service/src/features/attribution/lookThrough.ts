import { fromUnixSeconds, toUnixSeconds } from '../../kernel/clock.js'
import { findBlockAt } from '../../rpc/blockAt.js'
import { readHead } from '../../rpc/blocks.js'
import { nativeToken } from '../../rpc/native.js'
import type { Header } from '../../rpc/raw.js'
import { listTransfersOf } from '../../rpc/transfers.js'
import { listHeadersDown } from '../../sync/storeRaw.js'
import type { ActionRow } from '../plans/index.js'
import { type Carrier, listMoved, readCarrier } from './carriers.js'
import type { Depth } from './depth.js'
import { findInputScan } from './storeSightings.js'
import { type AttributionContext, type JudgeContext, orUndefined } from './transaction.js'

type LookUpContext = AttributionContext & JudgeContext

/** That an action was looked for up to a confirmed block later than its time, and what was found. */
export type Look = { found: readonly Carrier[]; looked?: { lookedTo: number; lookedAt: Date } }

/** Transactions of a wallet that are looked at for one action. */
const transactionsMax = 100
/** For this time after its `validUntil` an action is looked for again as the chain goes on. */
const againMs = 86_400_000

/**
 * Looks for an action whose time is over. Where the inputs of its chain are scanned, the scan has seen them. Else whatever
 * moved what the wallet gives or gets since the plan is looked at, and from then on what came after. Undefined where that
 * cannot be told yet: no block later than its time is confirmed, the scan is not there yet, or no node answers.
 */
export async function lookThrough(ctx: LookUpContext, action: ActionRow, depth: Depth): Promise<Look | undefined> {
  const { chainId, validUntil } = action
  const [block] = await listHeadersDown(ctx.db, chainId, depth.confirmedTo, 1)
  if (!block || block.timestamp <= toUnixSeconds(validUntil)) return undefined
  if (await isScanned(ctx, action)) {
    const scan = await findInputScan(ctx.db, chainId)
    return (scan?.toBlock ?? -1) >= block.number ? { found: [] } : undefined
  }
  const { lookedTo, lookedAt } = action
  const isOver = lookedAt !== null && lookedAt.getTime() > validUntil.getTime() + againMs
  if (lookedTo !== null && (isOver || lookedTo >= block.number)) return { found: [] }
  return ctx.judge.once(`look ${action.id} ${block.hash}`, () => orUndefined(() => lookAtTransfers(ctx, action, block)))
}

/** Whether all inputs since the plan are scanned, or will be. */
async function isScanned(ctx: LookUpContext, { chainId, planBlock, distributorId }: ActionRow): Promise<boolean> {
  if (ctx.chains.get(chainId)?.scanInputs !== true || distributorId === null || planBlock === null) return false
  const scan = await findInputScan(ctx.db, chainId)
  return scan !== undefined && scan.fromBlock <= planBlock
}

async function lookAtTransfers(ctx: LookUpContext, action: ActionRow, block: Header): Promise<Look | undefined> {
  const chain = ctx.chains.get(action.chainId)
  if (!chain) return undefined
  const from = action.lookedTo === null ? await findFirst(ctx, action) : action.lookedTo + 1
  const tokens = listMoved(action, nativeToken)
  const hashes = await listTransfersOf(chain, { wallet: action.wallet, tokens, from, to: block.number })
  if (hashes.length > transactionsMax) return undefined
  const carriers = await Promise.all(hashes.map((hash) => readCarrier(ctx, action, hash)))
  const looked = { lookedTo: block.number, lookedAt: fromUnixSeconds(block.timestamp) }
  return { found: carriers.filter((carrier) => carrier !== undefined), looked }
}

/** The first block that may hold it. */
async function findFirst(ctx: LookUpContext, { chainId, planBlock, createdAt }: ActionRow): Promise<number> {
  const chain = ctx.chains.get(chainId)
  if (planBlock !== null || !chain) return planBlock ?? 0
  const block = await findBlockAt(chain, await readHead(chain), toUnixSeconds(createdAt))
  return block?.number ?? 0
}
