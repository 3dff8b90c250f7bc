import type { Address } from 'viem'
import { smaller } from '../../../derive/lots.js'
import { combine, combineAll, mapRead, type Read } from '../../../rpc/multicall.js'
import { findHolderKind, readKept } from '../../../vaults/holders/index.js'
import type { VaultRecord } from '../../catalogue/index.js'
import type { KeptShares } from '../../positions/index.js'
import { balanceCall, parseWord } from '../adapter.js'

/** Shares that a declared holder of a vault keeps for the wallet. */
export type Kept = {
  holder: string
  shares: bigint
  /** The token of which the wallet's balance stands for them. */
  receipt: string | undefined
  problem: string | undefined
}

/** The shares of a vault that lie with its holders: what they keep for a wallet, and what of a holder's own balance is its own. */
export type AllKept = { kept: readonly Kept[]; ownOf: (shares: bigint) => bigint; isHolder: boolean }

export const nothingKept: AllKept = { kept: [], ownOf: (shares) => shares, isHolder: false }

/** Reads at the block what the holders of a vault say and have; `known` is what is derived. */
export function askKept(vault: VaultRecord, wallet: string, known: readonly KeptShares[]): Read<AllKept> {
  if (known.length === 0) return { reads: [], answer: () => nothingKept }
  const itself = known.find(({ holder }) => holder.address === wallet)
  if (itself) return { reads: [], answer: () => ({ kept: [], isHolder: true, ownOf: (all) => ownOf(all, itself) }) }
  const reads = known.map((each) =>
    mapRead(
      combine({
        said: readKept(each.holder, wallet),
        has: {
          reads: [{ target: vault.receiptToken as Address, data: balanceCall(each.holder.address as Address) }],
          answer: ([result]) => parseWord(result),
        } satisfies Read<bigint | undefined>,
      }),
      (told) => toKept(each, told),
    ),
  )
  return mapRead(combineAll(reads), (kept) => ({ ...nothingKept, kept }))
}

type Place = 'chainId' | 'vaultAddress' | 'holder'
/** The amount that a holder says it keeps for a wallet, and its balance of the share. */
type Told = { said: bigint | undefined; has: bigint | undefined }

function toKept({ holder, ...known }: KeptShares, told: Told): Kept {
  return {
    holder: holder.address,
    shares: countKept(known, told),
    receipt: findHolderKind(holder.kind)?.byMarket ? undefined : holder.address,
    problem:
      told.said === undefined && known.shares > 0n
        ? `the holder ${holder.address} does not answer what it keeps for the wallet; what is derived is told`
        : undefined,
  }
}

/**
 * The shares a holder keeps for a wallet at the block: what it says, where this is no more than what is derived and what has come to the
 * holder since for whichever account. So shares that came or left after the derived block are told where they are, and a holder
 * that lies takes nothing from its other accounts. Never more than what it has.
 */
export function countKept({ shares, ofAll, ofNobody }: Omit<KeptShares, Place>, { said, has }: Told): bigint {
  const derived = ofAll + ofNobody
  const come = has !== undefined && has > derived ? has - derived : 0n
  return least(said ?? shares, shares + come, has ?? ofAll)
}

/** Of a holder's balance what it keeps for nobody; what is not derived yet is its accounts'. */
function ownOf(balance: bigint, { ofAll, ofNobody }: KeptShares): bigint {
  return balance > ofAll ? least(balance - ofAll, ofNobody) : 0n
}

const least = (...all: readonly bigint[]): bigint => all.reduce(smaller)
