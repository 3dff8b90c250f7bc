import type { Recover } from '../chain/attribution/index.js'
import type { RawBlock, RawLog, RawTransaction } from '../chain/raw.js'
import { attributeEvents, type Credit } from './attribution.js'
import { type DeriveConfig, type DeriveVault, isSignedOnly } from './config.js'
import { deriveTransfer, deriveVaultTransaction, type Place } from './deriveVault.js'
import { decodeTransfer, decodeVaultEvent, topics, type VaultEvent } from './events.js'
import type { PlacedEvent } from './matching.js'
import { type Flows, findGainers, readFlows, type VaultTransaction } from './netChanges.js'
import { type DerivedRows, type DeriveState, emptyRows, holderKey, type RequestLot, requestKey } from './rows.js'

/** A configuration with the look-ups derivation needs; make one per configuration, not per block. */
export type Derivation = {
  config: DeriveConfig
  vaultsByAddress: ReadonlyMap<string, DeriveVault>
  /** Several vaults may share one receipt token. */
  vaultsByToken: ReadonlyMap<string, readonly DeriveVault[]>
  entryPoints: ReadonlySet<string>
  recover: Recover | undefined
}

export function createDerivation(config: DeriveConfig, recover?: Recover): Derivation {
  const vaultsByToken = new Map<string, DeriveVault[]>()
  for (const vault of config.vaults)
    vaultsByToken.set(vault.receiptToken, [...(vaultsByToken.get(vault.receiptToken) ?? []), vault])
  return {
    config,
    vaultsByAddress: new Map(config.vaults.map((vault) => [vault.address, vault])),
    vaultsByToken,
    entryPoints: new Set(config.entryPoints),
    recover,
  }
}

/**
 * Derives the rows of a block: frames, attribution, positions, ledger. No I/O and no clock: the same block, configuration
 * and state give the same rows, live and in a rebuild alike. `state` is advanced in place.
 */
export function derive(block: RawBlock, derivation: Derivation, state: DeriveState): DerivedRows {
  const rows = emptyRows()
  deriveInto(rows, block, derivation, state)
  return rows
}

/** `derive` of one block after others: its rows are added to theirs. */
export function deriveInto(rows: DerivedRows, block: RawBlock, derivation: Derivation, state: DeriveState): void {
  const { logs } = block
  const inputs = new Map(block.transactions.map((transaction) => [transaction.transactionIndex, transaction]))
  for (let start = 0; start < logs.length; ) {
    const first = logs[start]
    if (!first) break
    let end = start + 1
    while (logs[end]?.transactionIndex === first.transactionIndex) end += 1
    const place = {
      number: block.number,
      hash: block.hash,
      timestamp: block.timestamp,
      transactionHash: first.transactionHash,
      transactionIndex: first.transactionIndex,
    }
    // Most transactions are a lone transfer: no net change, no event, nothing to attribute.
    if (end - start > 1 || !deriveLoneTransfer(first, place, derivation, state, rows))
      deriveTransaction(place, logs.slice(start, end), inputs.get(first.transactionIndex), derivation, state, rows)
    start = end
  }
}

function deriveLoneTransfer(
  log: RawLog,
  place: Place,
  derivation: Derivation,
  state: DeriveState,
  rows: DerivedRows,
): boolean {
  if (log.topics[0] !== topics.transfer) return false
  const vaults = derivation.vaultsByToken.get(log.address)
  const transfer = vaults && decodeTransfer(log)
  if (transfer) for (const { id: vaultId } of vaults) deriveTransfer(transfer, { place, vaultId, state, rows })
  return true
}

function deriveTransaction(
  place: Place,
  logs: readonly RawLog[],
  transaction: RawTransaction | undefined,
  derivation: Derivation,
  state: DeriveState,
  rows: DerivedRows,
): void {
  const parts = readVaultParts(logs, derivation)
  const flows = new Map([...parts.values()].map((part) => [part.vault.id, readFlows(part)]))
  const credits = new Map<VaultEvent, Credit>()
  if (transaction && [...parts.values()].some(({ events }) => events.length > 0)) {
    const placed = placeEvents(parts, flows, place.timestamp)
    // An operation may run a bundle at another entry point: only the one that was called ends our operations.
    const operationEnds = logs
      .filter((log) => log.topics[0] === topics.userOperation && log.address === transaction.to)
      .map((log) => log.logIndex)
    const found = attributeEvents({
      ...derivation,
      timestamp: place.timestamp,
      transaction,
      events: placed,
      operationEnds,
    })
    found.credits.forEach((credit, index) => {
      const event = placed[index]?.event
      if (credit && event && counts(derivation.config, credit, place.timestamp)) credits.set(event, credit)
    })
    rows.watched.push({
      blockNumber: place.number,
      blockHash: place.hash,
      timestamp: place.timestamp,
      transactionHash: transaction.hash,
      transactionIndex: transaction.transactionIndex,
      from: transaction.from,
      to: transaction.to,
      ...found.carried,
    })
  }
  const { chainId } = derivation.config
  for (const part of parts.values())
    deriveVaultTransaction({
      chainId,
      place,
      part,
      flows: flows.get(part.vault.id) ?? readFlows(part),
      credits,
      state,
      rows,
    })
}

/** A distributor set to signed only is watched, but nothing unsigned enters its ledger or lots. */
function counts(config: DeriveConfig, credit: Credit, timestamp: number): boolean {
  return credit.attribution === 'signed' || !isSignedOnly(config, credit.distributorId, timestamp)
}

/** Transfers and events of each vault in one transaction, by vault id, in the order of the logs. */
function readVaultParts(logs: readonly RawLog[], derivation: Derivation): Map<number, VaultTransaction> {
  const parts = new Map<number, VaultTransaction>()
  const partOf = (vault: DeriveVault): VaultTransaction => {
    const known = parts.get(vault.id)
    if (known) return known
    const part: VaultTransaction = { vault, transfers: [], events: [] }
    parts.set(vault.id, part)
    return part
  }
  for (const log of logs) {
    if (log.topics[0] === topics.transfer) {
      const vaults = derivation.vaultsByToken.get(log.address)
      const transfer = vaults && decodeTransfer(log)
      if (transfer) for (const vault of vaults) partOf(vault).transfers.push(transfer)
      continue
    }
    const vault = derivation.vaultsByAddress.get(log.address)
    const event = vault && decodeVaultEvent(log, vault.asset)
    if (event) partOf(vault).events.push(event)
  }
  return parts
}

/** Events that may be credited: of vaults in force, in the order of the logs. */
function placeEvents(
  parts: ReadonlyMap<number, VaultTransaction>,
  flows: ReadonlyMap<number, Flows>,
  timestamp: number,
): PlacedEvent[] {
  return [...parts.values()]
    .filter(({ vault, events }) => events.length > 0 && vault.activeFrom <= timestamp)
    .flatMap(({ vault, events }) => {
      const own = flows.get(vault.id)
      return events.map((event) => ({
        vault: vault.address,
        event,
        gainers: own ? findGainers(own, event) : new Set<string>(),
      }))
    })
    .sort((a, b) => a.event.logIndex - b.event.logIndex)
}

/** Keys of the state a block needs before it can be derived: holders, and controllers of requests. */
export function listStateKeys(
  block: Pick<RawBlock, 'logs'>,
  derivation: Derivation,
): { holders: Map<string, { vaultId: number; wallet: string }>; requests: Map<string, RequestOwner> } {
  const holders = new Map<string, { vaultId: number; wallet: string }>()
  const requests = new Map<string, RequestOwner>()
  for (const log of block.logs) {
    if (log.topics[0] === topics.transfer) {
      const vaults = derivation.vaultsByToken.get(log.address)
      const transfer = vaults && decodeTransfer(log)
      if (!transfer) continue
      for (const { id } of vaults)
        for (const wallet of [transfer.from, transfer.to]) holders.set(holderKey(id, wallet), { vaultId: id, wallet })
      continue
    }
    const vault = derivation.vaultsByAddress.get(log.address)
    const event = vault && decodeVaultEvent(log, vault.asset)
    if (!event) continue
    const controllers = 'controller' in event ? [event.controller] : [event.sender, event.owner]
    for (const kind of ['deposit', 'redeem'] as const)
      for (const controller of controllers)
        requests.set(requestKey(vault.id, kind, controller), { vaultId: vault.id, kind, controller })
  }
  return { holders, requests }
}

export type RequestOwner = Pick<RequestLot, 'vaultId' | 'kind' | 'controller'>
