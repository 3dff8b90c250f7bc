import type { Address } from 'viem'
import type { Ask, Hints, Shape } from './hints.js'
import { findMellow } from './mellow.js'
import { findAera, findMidas, findUpshift, findWrappedStake } from './single.js'
import { findVeda } from './veda.js'

/** Which product of the field stands at an address that is of no kind; parts of one lead to the vault they belong to. */
export async function findShape(ask: Ask, address: Address, hints: Hints): Promise<Shape | undefined> {
  return (
    findMidas(address, hints) ??
    findUpshift(address, hints) ??
    findWrappedStake(address, hints) ??
    (await findAera(ask, address, hints)) ??
    (await findVeda(ask, address, hints)) ??
    (await findMellow(ask, address, hints))
  )
}

/** A note on a vault that a kind recognises and does not serve in full; undefined where there is nothing to say. */
export function noteProduct(kind: string, { accessManager, lag, strategy, escrow }: Hints): string | undefined {
  if (kind === 'erc7540-redeem' && strategy !== undefined && escrow !== undefined)
    return 'by its views a SuperVault of Superform, which nobody here has played: try it with little money'
  if (kind !== 'erc4626') return undefined
  if (lag !== undefined)
    return `a vault of Upshift: redemptions are requested and claimed ${lag} seconds later by their date, which is not served: leave it closed`
  if (accessManager !== undefined)
    return 'a vault of IPOR Fusion: shares may be locked for a time after a deposit, and where it has a withdraw manager redemptions are requested there, which is not served'
  return undefined
}
