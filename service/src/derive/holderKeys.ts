import { transferTopic } from '../rpc/abis.js'
import type { RawBlock, RawLog } from '../rpc/raw.js'
import { decodeHolderEvent, type HolderEvent } from '../vaults/holders/index.js'
import type { DeriveVault } from './config.js'
import { decodeTransfer, type Transfer } from './events.js'
import { isDue, listHolders, stateOfHolder } from './heldPots.js'
import { type DeriveState, heldKey, holderKey } from './rows.js'

/** A holder's accounts in one vault. */
export type HolderAccounts = { vaultId: number; holder: string }

export type HeldKeys = {
  /** Accounts in the events and Transfers of blocks, with each holder that may keep something for them. */
  held: Map<string, HolderAccounts & { wallet: string }>
  /** Holders all of whose accounts a block may change, by `holderKey`. */
  doubtful: Map<string, HolderAccounts>
}

type Derivation = {
  config: { vaults: readonly DeriveVault[] }
  vaultsByToken: ReadonlyMap<string, readonly DeriveVault[]>
  holdersByAddress: ReadonlyMap<string, readonly DeriveVault[]>
}
type Told = { transfers: Transfer[]; events: HolderEvent[] }

/** The state of declared holders that must be known before a block is derived. */
export function listHeldKeys(
  block: Pick<RawBlock, 'timestamp' | 'logs' | 'transactions'>,
  { config, ...derivation }: Derivation,
  state?: DeriveState,
): HeldKeys {
  const keys: HeldKeys = { held: new Map(), doubtful: new Map() }
  if (derivation.holdersByAddress.size === 0) return keys
  const traced = new Set(
    block.transactions.filter(({ evidence }) => evidence !== undefined).map((each) => each.transactionIndex),
  )
  for (const vault of config.vaults) {
    if (!vault.holders?.length) continue
    const holders = listHolders(vault, block.timestamp)
    const byTransaction = groupTold(block.logs, vault, derivation)
    if (byTransaction.size === 0) continue
    const wallets = new Set([...byTransaction.values()].flatMap(listWallets))
    for (const [address, holder] of holders) {
      const own = { vaultId: vault.id, holder: address }
      for (const wallet of [address, ...wallets]) keys.held.set(heldKey(vault.id, address, wallet), { ...own, wallet })
      const starts = state === undefined || isDue(stateOfHolder(state, vault.id, address), holder, block.timestamp)
      if (starts || [...byTransaction].some(([index, told]) => isDoubtful(told, address, traced.has(index))))
        keys.doubtful.set(holderKey(vault.id, address), own)
    }
  }
  return keys
}

function groupTold(
  logs: readonly RawLog[],
  vault: DeriveVault,
  { vaultsByToken, holdersByAddress }: Omit<Derivation, 'config'>,
): Map<number, Told> {
  const told = new Map<number, Told>()
  const of = (log: RawLog): Told => {
    const known = told.get(log.transactionIndex) ?? { transfers: [], events: [] }
    told.set(log.transactionIndex, known)
    return known
  }
  for (const log of logs) {
    if (log.topics[0] === transferTopic && vaultsByToken.get(log.address)?.includes(vault)) {
      const transfer = decodeTransfer(log)
      if (transfer) of(log).transfers.push(transfer)
    }
    if (!holdersByAddress.get(log.address)?.includes(vault)) continue
    const holder = vault.holders?.find(({ address }) => address === log.address)
    const event = holder && decodeHolderEvent(log, holder)
    if (event) of(log).events.push(event)
  }
  return told
}

function listWallets({ transfers, events }: Told): string[] {
  const named = events.flatMap((event) =>
    event.kind === 'upgrade' ? [] : event.kind === 'move' ? [event.account, event.to] : [event.account],
  )
  return [...transfers.flatMap(({ from, to }) => [from, to]), ...named]
}

/** Whether a transaction may show that a holder is not to be believed: anything but one Transfer with its one event. */
function isDoubtful({ transfers, events }: Told, holder: string, isTraced: boolean): boolean {
  const out = transfers.filter(({ from, to }) => from === holder && from !== to)
  const own = events.filter((event) => event.holder === holder)
  if (own.some(({ kind }) => kind === 'upgrade')) return true
  if (out.length === 0) return false
  const [only, ...more] = own.filter(({ kind }) => kind === 'out')
  if (out.length > 1 || more.length > 0 || isTraced || only?.kind !== 'out') return true
  return only.shares < (out[0]?.amount ?? 0n)
}
