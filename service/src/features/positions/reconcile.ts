import { type Address, erc20Abi } from 'viem'
import type { ChainContext } from '../../chain/chains.js'
import { ask, together, view } from '../../chain/question.js'
import { type HolderSample, recordDrift, sampleHolders } from './storeStatus.js'

/** Holders of a vault compared with the chain in one look. */
const sampleCount = 10

/**
 * Compares balances of random holders with `balanceOf` at the very block they belong to, for every vault, and keeps how
 * many differ. A difference means missed or unusual transfers; it is reported, never repaired silently.
 */
export async function reconcileBalances(ctx: ChainContext): Promise<void> {
  for (const chain of ctx.chains.values()) {
    const sample = await sampleHolders(ctx.db, chain.chainId, sampleCount)
    if (!sample) continue
    for (const [vaultId, holders] of groupByVault(sample.holders)) {
      const questions = holders.map(({ receiptToken, wallet }) =>
        view(receiptToken as Address, erc20Abi, 'balanceOf', [wallet as Address]),
      )
      const at = { blockHash: sample.blockHash as `0x${string}` }
      const { answer } = await ask(
        chain,
        together(Object.fromEntries(questions.map((each, i) => [String(i), each]))),
        at,
      )
      const mismatches = holders.filter(({ shares }, index) => answer[String(index)] !== BigInt(shares)).length
      const found = {
        vaultId,
        at: ctx.clock.now(),
        blockNumber: sample.blockNumber,
        samples: holders.length,
        mismatches,
      }
      await recordDrift(ctx.db, found)
      if (mismatches > 0) ctx.log.warn({ chainId: chain.chainId, ...found }, 'balances differ from the chain')
    }
  }
}

function groupByVault(holders: readonly HolderSample[]): Map<number, HolderSample[]> {
  const groups = new Map<number, HolderSample[]>()
  for (const holder of holders) groups.set(holder.vaultId, [...(groups.get(holder.vaultId) ?? []), holder])
  return groups
}
