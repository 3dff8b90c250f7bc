import { transferTopic } from '../rpc/abis.js'
import type { RawBlock, RawLog } from '../rpc/raw.js'
import { keepsNothing } from '../vaults/configured/index.js'
import { type DeclaredHolder, decodeHolderEvent, type HolderEvent } from '../vaults/holders/index.js'
import type { DeriveVault } from './config.js'
import { decodeTransfer, type Transfer } from './events.js'
import { isDoubted, isDue, listHolders, stateOfHolder } from './heldPots.js'
import { smaller } from './lots.js'
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
type Moving = Extract<HolderEvent, { kind: 'in' | 'out' }>

/** The state before some blocks; `least`: by `heldKey`, the least that accounts have as far as the blocks were looked at. */
export type KnownHeld = { state: DeriveState; least: Map<string, bigint> }

/** The state of declared holders that must be known before a block is derived. */
export function listHeldKeys(
  block: Pick<RawBlock, 'timestamp' | 'logs' | 'transactions'>,
  { config, ...derivation }: Derivation,
  known?: KnownHeld,
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
      if (!known || mayEnd(vault, holder, { timestamp: block.timestamp, byTransaction, traced, known }))
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

type Block = { timestamp: number; byTransaction: ReadonlyMap<number, Told>; traced: ReadonlySet<number> }

/** Whether a holder may begin or end to be believed in a block. Counts on what its accounts have at least. */
function mayEnd(vault: DeriveVault, holder: DeclaredHolder, block: Block & { known: KnownHeld }): boolean {
  const { timestamp, byTransaction, traced, known } = block
  const leastOf = (account: string): bigint => {
    const key = heldKey(vault.id, holder.address, account)
    return known.least.get(key) ?? known.state.held.get(key)?.shares ?? 0n
  }
  const setLeast = (account: string, shares: bigint) =>
    known.least.set(heldKey(vault.id, holder.address, account), shares)
  const before = stateOfHolder(known.state, vault.id, holder.address)
  const isEnded = before.phase === 'counting' && isDoubted(vault, holder, timestamp)
  let mayBe = isEnded || isDue(before, holder, timestamp)
  for (const [index, told] of [...byTransaction].sort(([a], [b]) => a - b)) {
    const own = told.events.filter((event) => event.holder === holder.address)
    const isPlain = !traced.has(index) && !own.some(({ kind }) => kind === 'upgrade')
    const left = told.transfers.filter(({ from, to }) => from === holder.address && from !== to)
    const out = isPlain ? findOnly(vault, own, left, 'out') : undefined
    const isTaken = out !== undefined && out.shares >= (left[0]?.amount ?? 0n)
    if (!isPlain || (left.length > 0 && !(isTaken && leastOf(out.account) >= (left[0]?.amount ?? 0n)))) mayBe = true
    const came = told.transfers.filter(({ from, to }) => to === holder.address && from !== to)
    const into = isPlain ? findOnly(vault, own, came, 'in') : undefined
    const moved = isPlain && own.length === 1 && own[0]?.kind === 'move' ? own[0] : undefined
    if (moved) setLeast(moved.to, leastOf(moved.to) + smaller(moved.shares, leastOf(moved.account)))
    if (into) setLeast(into.account, leastOf(into.account) + smaller(into.shares, came[0]?.amount ?? 0n))
    for (const event of own)
      if (event.kind === 'out' || event.kind === 'move')
        setLeast(event.account, leastOf(event.account) - smaller(event.shares, leastOf(event.account)))
  }
  return mayBe
}

/** The one event of a kind in a transaction, where it takes its one Transfer whatever else is known. */
function findOnly(
  vault: DeriveVault,
  events: readonly HolderEvent[],
  transfers: readonly Transfer[],
  kind: Moving['kind'],
): Moving | undefined {
  const [event, ...others] = events.filter((each): each is Moving => each.kind === kind)
  const [transfer, ...more] = transfers
  if (!event || !transfer || others.length > 0 || more.length > 0 || keepsNothing(vault, event.account))
    return undefined
  const isInOrder = event.isBeforeTransfer ? event.logIndex < transfer.logIndex : event.logIndex > transfer.logIndex
  return isInOrder ? event : undefined
}
