import { smaller } from '../../derive/lots.js'
import type { DerivedRows } from '../../derive/rows.js'

/** A kind of flow. A change without an event of the vault is a transfer, also if shares were minted or burned. */
export type FlowKind = 'deposit' | 'withdrawal' | 'transfer-in' | 'transfer-out'

/** The change of a wallet's holding in a vault by a transaction. `assets` is the paid amount by events; null for transfers. */
export type Flow = {
  vaultId: number
  wallet: string
  blockNumber: number
  transactionIndex: number
  timestamp: number
  kind: FlowKind
  shares: bigint
  assets: bigint | null
}

/** Of a vault: who holds for others, or for nobody, and so earns nothing. */
export type FlowsVault = { isExcluded(wallet: string): boolean }

/** The sums that came in and went out by events, and the whole change of the holding. */
type Moved = { paid: Sum; taken: Sum; held: bigint }
/** `untold` shares an event names though no Transfer moved them. */
type Sum = { shares: bigint; untold: bigint; assets: bigint }

/**
 * The flows of a block. A wallet's holding is its balance plus its shares that wait for a redemption: a request changes
 * nothing, the claim that completes it is the withdrawal. The part of a change that no event explains is a transfer. Shares
 * that an event names beyond its Transfers (a fee kept in shares) explain an existing change and make none.
 */
export function deriveFlows(
  block: { number: number; timestamp: number },
  rows: Pick<DerivedRows, 'balanceChanges' | 'eventParts' | 'pendingChanges'> | undefined,
  vaults: ReadonlyMap<number, FlowsVault>,
): Flow[] {
  if (!rows) return []
  const moved = new Map<string, Place & Moved>()
  const open = ({ vaultId, wallet, transactionIndex }: Place): Moved => {
    const key = `${transactionIndex}:${vaultId}:${wallet}`
    const known = moved.get(key)
    if (known) return known
    const fresh = { vaultId, wallet, transactionIndex, paid: nothing(), taken: nothing(), held: 0n }
    moved.set(key, fresh)
    return fresh
  }
  for (const change of rows.balanceChanges) open(change).held += change.after - change.before
  for (const change of rows.pendingChanges) open(change).held += change.delta
  for (const part of rows.eventParts) {
    const { paid, taken } = open(part)
    const sum = part.kind === 'deposit' ? paid : taken
    sum.shares += part.shares
    sum.untold += part.untold
    sum.assets += part.assets
  }
  const flows: Flow[] = []
  for (const { vaultId, wallet, transactionIndex, paid, taken, held } of moved.values()) {
    if (vaults.get(vaultId)?.isExcluded(wallet) !== false) continue
    const add = (kind: FlowKind, shares: bigint, assets: bigint | null) => {
      if (shares === 0n && (assets ?? 0n) === 0n) return
      const { number: blockNumber, timestamp } = block
      flows.push({ vaultId, wallet, blockNumber, transactionIndex, timestamp, kind, shares, assets })
    }
    let rest = held - paid.shares + taken.shares
    const explained = rest > 0n ? smaller(rest, paid.untold) : -smaller(-rest, taken.untold)
    rest -= explained
    add('deposit', paid.shares + (explained > 0n ? explained : 0n), paid.assets)
    add('withdrawal', taken.shares - (explained < 0n ? explained : 0n), taken.assets)
    add(rest > 0n ? 'transfer-in' : 'transfer-out', rest < 0n ? -rest : rest, null)
  }
  return flows
}

type Place = { vaultId: number; wallet: string; transactionIndex: number }

function nothing(): Sum {
  return { shares: 0n, untold: 0n, assets: 0n }
}
