import { getAddress } from 'viem'
import { formatTs } from '../../kernel/clock.js'
import type { Context } from '../../postgres/context.js'
import type { Queryable } from '../../postgres/pool.js'
import { decideGrowth, findWithholding, listDisagreements } from '../../snapshots/index.js'
import { readNows } from '../../sync/storeNow.js'
import { findVaultKind } from '../../vaults/index.js'
import { listSigners } from '../catalogue/index.js'
import { type ChainStatus, listChainStatus, listVaultStatus, type VaultStatus } from './storeStatus.js'

/** A watcher that was silent for this time is not running. */
const silentMsMax = 60_000

const ts = (at: Date | null) => (at === null ? null : formatTs(at))

/** How far each chain and vault is indexed, what reconciliation found, and the addresses of our attribution keys. */
export async function getIndexingStatus(
  ctx: Pick<Context, 'clock'> & { db: Queryable },
  input: { chainId?: number; vaultAddress?: string },
) {
  const now = ctx.clock.now()
  const vaultAddress = input.vaultAddress?.toLowerCase()
  const [chains, vaults, signers, disagreements, nowOf] = await Promise.all([
    listChainStatus(ctx.db, now, input.chainId),
    listVaultStatus(ctx.db, now, { chainId: input.chainId, vaultAddress }),
    listSigners(ctx.db),
    listDisagreements(ctx.db),
    readNows(ctx),
  ])
  const wrong = new Map(disagreements.map(({ chainId, address, reason }) => [`${chainId} ${address}`, reason]))
  const states = new Map(
    chains.map((chain) => [chain.chainId, { state: chainState(chain, now), reason: chain.reason }]),
  )
  return {
    chains: chains.map((chain) => toChain(chain, now)),
    vaults: vaults.map((vault) => {
      const reason = wrong.get(`${vault.chainId} ${vault.vaultAddress}`)
      return toVault({ ...vault, wrong: reason }, states.get(vault.chainId), { now, chainNow: nowOf([vault.chainId]) })
    }),
    attributionSigners: signers.map(({ address, from, to }) => ({
      address: getAddress(address),
      from: formatTs(from),
      to: ts(to),
    })),
  }
}

export type IndexingState = 'not-started' | 'backfilling' | 'live' | 'stalled' | 'paused'

/** State of a chain from its cursor: a watcher that has fallen silent is stalled, one switched off is paused. */
export function chainState(chain: Pick<ChainStatus, 'state' | 'watched' | 'updatedAt'>, now: Date): IndexingState {
  if (!chain.watched) return chain.state === null ? 'not-started' : 'paused'
  if (chain.state === null || chain.updatedAt === null) return 'not-started'
  return now.getTime() - chain.updatedAt.getTime() > silentMsMax ? 'stalled' : chain.state
}

function toChain(chain: ChainStatus, now: Date) {
  const { chainId, name, finalizedBlock, reorgs24h, evidence, traceFrom } = chain
  const [headBlock, indexedBlock] = [chain.headBlock ?? 0, Math.max(0, chain.indexedBlock ?? 0)]
  const lagBlocks = chain.lagBlocks ?? 0
  const state = chainState(chain, now)
  const ageMs = (at: Date | null) => (at === null ? 0 : now.getTime() - at.getTime())
  const behindMs = Math.max(ageMs(chain.indexedAt), ageMs(chain.tipMissedSince))
  return {
    chainId,
    name,
    headBlock,
    indexedBlock,
    finalizedBlock,
    lagBlocks,
    // Of a chain that stands still nobody knows the head: it is as far behind as its last block is old.
    lagSeconds: lagBlocks === 0 && state !== 'stalled' ? 0 : Math.max(0, Math.round(behindMs / 1000)),
    state,
    reorgs24h,
    updatedAt: ts(chain.updatedAt),
    evidence,
    traceFrom,
  }
}

/** `chain` is undefined for a chain that is listed but never watched here. */
function toVault(
  vault: VaultStatus & { wrong: string | undefined },
  chain: { state: IndexingState; reason: string | null } | undefined,
  { now, chainNow }: { now: Date; chainNow: Date },
) {
  const followed = findVaultState(vault, chain?.state)
  // Of a vault that is not what is configured raw amounts and balances go on.
  const isWrong = followed === 'live' && vault.wrong !== undefined
  const state = isWrong ? 'stalled' : followed
  const nextMs = vault.lastSnapshotAt
    ? vault.lastSnapshotAt.getTime() + vault.snapshotIntervalSeconds * 1000 - now.getTime()
    : 0
  const waits = state === 'backfilling' || state === 'stalled' || (state === 'not-started' && chain !== undefined)
  return {
    chainId: vault.chainId,
    vaultAddress: getAddress(vault.vaultAddress),
    opportunityId: vault.opportunityId,
    protocol: vault.protocol ?? '',
    state,
    firstSnapshotAt: ts(vault.firstSnapshotAt),
    lastSnapshotAt: ts(vault.lastSnapshotAt),
    reason: join(
      isWrong ? vault.wrong : reasonOf(state, chain),
      state === 'live' && whatIsMissing(vault, chainNow),
      describeCut(vault.cutMoves),
      describeHolders(vault),
    ),
    retryAfterSeconds: waits ? Math.max(30, Math.ceil(nextMs / 1000)) : null,
    drift: { checkedAt: ts(vault.checkedAt), samples: vault.samples ?? 0, mismatches: vault.mismatches ?? 0 },
  }
}

/** Describes the faults of the declared holders of a vault's shares; undefined if there are none. */
export function describeHolders({
  brokenHolders,
  ignoredEvents,
}: Pick<VaultStatus, 'brokenHolders' | 'ignoredEvents'>): string | undefined {
  const said = [
    ...(brokenHolders === null
      ? []
      : [`not looked through any more: ${brokenHolders}; declare it anew when it can be believed`]),
    ...(ignoredEvents === 0
      ? []
      : [`${ignoredEvents} events of holders without a Transfer of shares count for nothing`]),
  ]
  return said.length === 0 ? undefined : said.join('; ')
}

function reasonOf(state: keyof typeof reasons, chain: { reason: string | null } | undefined): string | null {
  if (state === 'not-started' && !chain) return 'its chain is not watched by this service'
  return (state === 'stalled' ? chain?.reason : undefined) ?? reasons[state]
}

/** The parts that callers do not get for a followed vault: its share prices and rates, or its US dollars. */
function whatIsMissing(vault: VaultStatus, now: Date): string | null {
  return join(
    findVaultWithholding(vault, now)?.text,
    !vault.isPriced && 'its asset has no price, so it shows no US dollars',
  )
}

/** Why share prices and rates of a vault are withheld now; undefined where they are not. */
export function findVaultWithholding(vault: VaultStatus, now: Date): ReturnType<typeof findWithholding> {
  const { lastSnapshotAt, newestSupply, snapshotIntervalSeconds } = vault
  const range = { startMs: now.getTime(), endMs: now.getTime() }
  return findWithholding(
    {
      isReadable: true,
      isMapped: decideGrowth(vault.growthSources, range) !== 'none',
      isPaused: vault.isPaused,
      newest: lastSnapshotAt ? { atMs: lastSnapshotAt.getTime(), totalSupply: BigInt(newestSupply ?? '0') } : undefined,
      snapshotIntervalSeconds,
      dustFloor: BigInt(vault.dustFloor),
      // How late snapshots are `lastSnapshotAt` tells.
      confirmationSeconds: Number.POSITIVE_INFINITY,
    },
    now.getTime(),
  )
}

function join(...said: (string | false | null | undefined)[]): string | null {
  return said.filter(Boolean).join('; ') || null
}

/** Describes how many moves were capped; undefined without any. */
export function describeCut(moves: number): string | undefined {
  if (moves === 0) return undefined
  const capped = moves === 1 ? '1 move of shares was' : `${moves} moves of shares were`
  return `${capped} more than the wallet's known balance and counted only up to it: the share rebases, or \`startBlock\` is too late`
}

function findVaultState({ kind, synced }: VaultStatus, chain: IndexingState | undefined) {
  if (!findVaultKind(kind)?.readFigures) return 'unsupported'
  if (synced === null || !chain) return 'not-started'
  return synced ? chain : 'backfilling'
}

const reasons: Record<IndexingState | 'unsupported', string | null> = {
  'not-started': 'the watcher has not started with it yet',
  backfilling: 'its history is still being read',
  live: null,
  stalled: 'the chain is not followed at the moment',
  paused: 'the chain is switched off',
  unsupported: 'no reader for this kind of vault',
}
