import { toUnixSeconds } from '../../kernel/clock.js'
import type { Database, Queryable } from '../../postgres/pool.js'
import { listPriceSteps } from '../../prices/index.js'
import { listValueSteps, type StreamTarget } from '../../snapshots/index.js'
import { listNonHolders } from '../../vaults/configured/index.js'
import { listLotSteps, listShareSteps, readConfiguration } from '../positions/index.js'
import { createWeigher } from './adapters.js'
import { toSharePrice, toUnitPrice } from './amounts.js'
import type { FileOrigin, RewardInputs } from './rewards/rewardFile.js'
import { listBudgetChanges } from './storeEvents.js'
import { findBlockBefore, findStates, type TakenSnapshot } from './storeSnapshots.js'
import type { StreamRow } from './storeStreams.js'
import { readAdapter, readStrategy } from './terms.js'
import type { AccrualFacts, StreamTerms } from './types.js'

/** The terms of a stream, with the confirmed increases of its budget. */
export async function findTerms(db: Queryable, stream: StreamRow, rewardDecimals: number): Promise<StreamTerms> {
  let total = stream.totalAmount ?? 0n
  const increases = (await listBudgetChanges(db, stream.id)).map(({ at, amount }) => {
    total += amount
    return { at: toUnixSeconds(at), total }
  })
  return {
    streamId: stream.id,
    strategy: readStrategy(stream.type, stream.customArgs),
    adapters: stream.adapters.map(readAdapter),
    startAt: toUnixSeconds(stream.startsAt),
    endAt: stream.endsAt === null ? null : toUnixSeconds(stream.endsAt),
    budget: stream.totalAmount,
    increases,
    rewardDecimals,
  }
}

/** A token that is no vault's share: one of it is worth one of it, so no share price is read or waited for. */
export function isPlainToken({ kind }: Pick<StreamTarget, 'kind'>): boolean {
  return kind === 'erc20'
}

type ValueSpan = { vaultId: number; target: StreamTarget; from: number; to: number }

/** The worth of a share, step by step; for a plain token, that of one token. */
async function listTargetValues(db: Database, { vaultId, target, from, to }: ValueSpan) {
  if (!isPlainToken(target)) return listValueSteps(db, { vaultId, from, to })
  const { chainId, token: address } = target
  const steps = await listPriceSteps(db, { chainId, address }, { from, to })
  return steps.map((step) => ({ ...step, numerator: 1n, exponent: 0 }))
}

/** Everything a snapshot of an instant rests on, read once. */
export async function readInputs(
  db: Database,
  ask: {
    stream: StreamRow
    terms: StreamTerms
    target: StreamTarget
    previous: TakenSnapshot | undefined
    /** The last block of the target's chain at or before the instant. */
    block: { number: number; hash: string }
    to: number
  },
): Promise<RewardInputs> {
  const { stream, terms, target, previous, block, to } = ask
  const { chainId, asset, assetDecimals, address, token } = target
  const at = previous?.at ?? terms.startAt
  const begin = previous?.blockNumber ?? (await findBlockBefore(db, chainId, at))
  const span = { chainId, vaultId: stream.targetVaultId, from: begin, to: block.number, at }
  const isValued = terms.strategy.type !== 3
  const excluded = listNonHolders(target.own)
  const isLp = ({ wallet }: { wallet: string }) => !excluded.has(wallet)
  const values = await listTargetValues(db, { vaultId: stream.targetVaultId, target, from: isValued ? at : to, to })
  const { chainId: rewardChainId, rewardToken } = stream
  const prices =
    rewardChainId === null || rewardToken === null
      ? []
      : await listPriceSteps(
          db,
          { chainId: rewardChainId, address: rewardToken },
          { from: terms.strategy.type === 2 ? at : to, to },
        )
  const distributors = [...createWeigher(terms.adapters).distributors]
  const facts: AccrualFacts = {
    balances: (await listShareSteps(db, span)).filter(isLp),
    lots: (await listLotSteps(db, span, distributors)).filter(isLp),
    sharePrices: values.map((step) => ({ at: step.at, usd: toSharePrice(step, assetDecimals) })),
    rewardPrices: prices.map(({ at, priceUsd }) => ({ at, usd: toUnitPrice(priceUsd, terms.rewardDecimals) })),
  }
  const origin: FileOrigin = {
    target: { chainId, address, token, asset, assetDecimals, own: target.own },
    reward: toReward(stream),
    block,
    previous: previous?.fileHash ?? null,
    observations: [...values, ...prices].flatMap(({ observationId }) => observationId ?? []),
  }
  const from = previous && (await findStates(db, previous))
  if (distributors.length === 0) return { terms, facts, to, from, origin }
  const configuration = await readConfiguration(db, { chainId, vault: address, at: to })
  return { terms, facts, to, from, origin, configuration }
}

function toReward({ chainId, rewardToken, factory, contract, pointId }: StreamRow): FileOrigin['reward'] {
  if (chainId === null || rewardToken === null || factory === null || contract === null)
    return { pointId: pointId ?? '' }
  return { chainId, address: rewardToken, factory, contract }
}
