import type { Address } from 'viem'
import { formatTs } from '../../kernel/clock.js'
import { unavailable } from '../../kernel/errors.js'
import type { ChainContext } from '../../rpc/chains.js'
import { multicall } from '../../rpc/multicall.js'
import { findVaultKind, vaultKinds } from '../../vaults/index.js'
import { listStartedCooldowns, type StartedCooldown } from './storeCooldowns.js'

const kinds = vaultKinds.filter(({ readCooling }) => readCooling !== undefined).map(({ name }) => name)

/**
 * Redemptions that cool down, as requests. The vault keeps one sum a wallet and tells nothing when it is taken out: the
 * newest redemptions that make up what still waits are open, all before them are claimed. Who brought one stands in the
 * ledger, whose withdrawal it is.
 */
export async function listCooldowns(ctx: ChainContext, wallet: string) {
  const started = await listStartedCooldowns(ctx.db, { wallet, kinds })
  const byVault = new Map<string, StartedCooldown[]>()
  for (const each of started) {
    const key = `${each.chainId}:${each.vaultAddress}`
    byVault.set(key, [...(byVault.get(key) ?? []), each])
  }
  const shown = await Promise.all([...byVault.values()].map((own) => readVault(ctx, wallet, own)))
  return shown.flat()
}

async function readVault(ctx: ChainContext, wallet: string, started: readonly StartedCooldown[]) {
  const [first] = started
  if (!first) return []
  const chain = ctx.chains.get(first.chainId)
  if (!chain) throw unavailable(`chain ${first.chainId} cannot be read right now`, { retryAfterSeconds: 30 })
  const read = findVaultKind(first.vaultKind)?.readCooling?.(first.vaultAddress as Address, wallet as Address)
  if (!read) return []
  const { answer: cooling, timestamp } = await multicall(chain, read)
  if (!cooling) return []
  let open = cooling.assets
  return started
    .filter(({ receiver }) => receiver === cooling.silo.toLowerCase())
    .reverse()
    .map((each) => {
      const waits = each.assets > 0n && each.assets <= open
      if (waits) open -= each.assets
      const isOver = waits && timestamp >= cooling.endsAt
      return {
        opportunityId: each.opportunityId,
        kind: 'redeem' as const,
        requestId: '0',
        state: !waits ? ('claimed' as const) : isOver ? ('claimable' as const) : ('pending' as const),
        assets: String(each.assets),
        shares: String(each.shares),
        claimable: isOver ? String(each.shares) : '0',
        distributorId: null,
        requestedAt: formatTs(each.requestedAt),
        txHash: each.txHash,
      }
    })
    .reverse()
}
