import type { Attribution, Recover } from '@openearn/attribution'
import { transferTopic } from '../rpc/abis.js'
import type { RawBlock, RawLog, RawTransaction } from '../rpc/raw.js'
import { keepsNothing, listVaultAddresses } from '../vaults/configured/index.js'
import { decodeHolderEvent } from '../vaults/holders/index.js'
import { type AttributedEvents, attributeEvents, readAttribution } from './attribution.js'
import { type DeriveConfig, type DeriveVault, hasAsyncDeposit } from './config.js'
import { deriveTransfer, deriveVaultTransaction } from './deriveVault.js'
import { type ChangedRequest, type OpenedRequest, recordEventParts } from './eventParts.js'
import { decodeTransfer, decodeVaultEvent, type Transfer, type VaultEvent } from './events.js'
import { type Flows, readFlows } from './flows.js'
import { listHolders, partsOf } from './heldPots.js'
import { followHolders } from './holders.js'
import type { PlacedEvent } from './matching.js'
import { recordShareMints, zeroTopic } from './mints.js'
import { forgetEnded } from './openRequests.js'
import {
  type DerivedRows,
  type DeriveState,
  emptyRows,
  emptyState,
  type HeldState,
  signatureKey,
  type TxPosition,
} from './rows.js'
import { type ReadBlock, readSettled, type Settled } from './settled.js'
import { createOwnerOf, listStandingFor, readOwners } from './subAccounts.js'
import type { VaultTransaction } from './transfers.js'

/** A configuration with the look-ups derivation needs; make one per configuration, not per block. */
export type Derivation = {
  config: DeriveConfig
  /** By the addresses of the vaults and of their further contracts, which several vaults may share. */
  vaultsByContract: ReadonlyMap<string, readonly DeriveVault[]>
  /** Several vaults may share one receipt token. */
  vaultsByToken: ReadonlyMap<string, readonly DeriveVault[]>
  /** The vaults whose shares a declared holder keeps. */
  holdersByAddress: ReadonlyMap<string, readonly DeriveVault[]>
  entryPoints: ReadonlySet<string>
  recover: Recover | undefined
  /** Attributions of transactions whose signatures were looked up, so that each is read once. */
  attributions: WeakMap<RawTransaction, Attribution>
}

export function createDerivation(config: DeriveConfig, recover?: Recover): Derivation {
  return {
    config,
    vaultsByContract: groupVaults(config.vaults, listVaultAddresses),
    vaultsByToken: groupVaults(config.vaults, ({ receiptToken }) => [receiptToken]),
    holdersByAddress: groupVaults(config.vaults, ({ holders = [] }) => [
      ...new Set(holders.map(({ address }) => address)),
    ]),
    entryPoints: new Set(config.entryPoints),
    recover,
    attributions: new WeakMap(),
  }
}

function groupVaults(
  vaults: readonly DeriveVault[],
  addressesOf: (vault: DeriveVault) => readonly string[],
): Map<string, DeriveVault[]> {
  const grouped = new Map<string, DeriveVault[]>()
  for (const vault of vaults)
    for (const address of addressesOf(vault)) grouped.set(address, [...(grouped.get(address) ?? []), vault])
  return grouped
}

/**
 * Derives the rows of a block: frames, attribution, positions, ledger. No I/O and no clock: the same block, configuration
 * and state give the same rows, live and in a rebuild alike. `state` is advanced in place.
 */
export function derive(block: ReadBlock, derivation: Derivation, state: DeriveState): DerivedRows {
  const rows = emptyRows()
  forgetEnded(state, block.timestamp)
  readOwners(block, derivation.config, state, rows)
  const settled = readSettled(block, derivation.vaultsByContract)
  const inputs = new Map(block.transactions.map((transaction) => [transaction.transactionIndex, transaction]))
  for (const logs of groupLogs(block.logs)) {
    const [first] = logs
    if (!first) continue
    const place = {
      number: block.number,
      hash: block.hash,
      timestamp: block.timestamp,
      transactionHash: first.transactionHash,
      transactionIndex: first.transactionIndex,
    }
    // Most transactions are a lone transfer: no net change, no event, nothing to attribute.
    if (logs.length > 1 || !deriveLoneTransfer(first, place, derivation, state, rows))
      deriveTransaction(place, logs, inputs.get(first.transactionIndex), derivation, state, rows, settled)
  }
  // The state keeps the same requests; the rows are their present values.
  if (rows.requests.length > 0) rows.requests = rows.requests.map((request) => ({ ...request }))
  return rows
}

/** The logs of a block by transaction, in their order. */
function* groupLogs(logs: readonly RawLog[]): Generator<readonly RawLog[]> {
  for (let start = 0; start < logs.length; ) {
    let end = start + 1
    while (logs[end]?.transactionIndex === logs[start]?.transactionIndex) end += 1
    yield logs.slice(start, end)
    start = end
  }
}

function deriveLoneTransfer(
  log: RawLog,
  place: TxPosition,
  derivation: Derivation,
  state: DeriveState,
  rows: DerivedRows,
): boolean {
  if (log.topics[0] !== transferTopic) return false
  const vaults = derivation.vaultsByToken.get(log.address)
  if (derivation.holdersByAddress.has(log.address) || vaults?.some(({ holders = [] }) => holders.length > 0))
    return false
  const transfer = vaults && decodeTransfer(log)
  for (const vault of transfer ? vaults : []) {
    deriveTransfer(transfer as Transfer, { place, vaultId: vault.id, state, rows })
    if (log.topics[1] === zeroTopic)
      recordShareMints(place, { vault, transfers: [transfer as Transfer], events: [] }, rows.shareMints)
  }
  return true
}

function deriveTransaction(
  place: TxPosition,
  logs: readonly RawLog[],
  transaction: RawTransaction | undefined,
  derivation: Derivation,
  state: DeriveState,
  rows: DerivedRows,
  settled: Settled,
): void {
  const parts = readVaultParts(logs, place.timestamp, derivation)
  const hasEvents = [...parts.values()].some(({ events }) => events.length > 0)
  const attribution =
    transaction && hasEvents ? attributionOf(transaction, { timestamp: place.timestamp, logs }, derivation) : undefined
  const flows = new Map(
    [...parts.values()].map((part) => {
      const made = attribution?.made
      const followed = followHolders(part, { state, timestamp: place.timestamp, made })
      return [part.vault.id, readFlows(part, made, followed)]
    }),
  )
  const { credits, strangers } =
    transaction && attribution
      ? credit({ place, logs, transaction, attribution, parts, flows }, derivation, state, rows)
      : none
  const { chainId } = derivation.config
  for (const part of parts.values()) {
    const moved = flows.get(part.vault.id)
    if (!moved) throw new Error('the flows of every vault were read')
    const [opened, changed] = [rows.requests.length, rows.requestChanges.length]
    deriveVaultTransaction({ chainId, place, part, flows: moved, credits, strangers, state, rows, settled })
    recordShareMints(place, part, rows.shareMints)
    if (part.events.length === 0) continue
    const requests = { opened: rows.requests.slice(opened), changed: rows.requestChanges.slice(changed) }
    recordEventParts({ place, part, flows: moved }, requests, rows)
  }
}

/** Requests of one transaction and one vault, as they are stored. */
export type StoredRequests = (
  vaultId: number,
  transactionIndex: number,
) => { opened: readonly OpenedRequest[]; changed: readonly ChangedRequest[] }

/** The shares that declared holders of a vault kept before a transaction, as it is stored. */
export type StoredHeld = (vaultId: number, transactionIndex: number) => HeldState

/** The parts of a block's events, and its mints, as `derive` returned them, computed without a state: the changes of requests are stored. */
export function rederiveEventParts(
  block: RawBlock,
  derivation: Derivation,
  storedRequests: StoredRequests,
  storedHeld: StoredHeld,
): Pick<DerivedRows, 'eventParts' | 'pendingChanges' | 'shareMints'> {
  const rows = { eventParts: [], pendingChanges: [], shareMints: [] }
  const { number, hash, timestamp, logs } = block
  const inputs = new Map(block.transactions.map((transaction) => [transaction.transactionIndex, transaction]))
  for (const own of groupLogs(logs)) {
    const [first] = own
    // As above, most transactions are a lone transfer.
    if (!first || (own.length === 1 && first.topics[0] === transferTopic && first.topics[1] !== zeroTopic)) continue
    const { transactionIndex, transactionHash } = first
    const place = { number, hash, timestamp, transactionIndex, transactionHash }
    const all = [...readVaultParts(own, timestamp, derivation).values()]
    for (const part of all) recordShareMints(place, part, rows.shareMints)
    const parts = all.filter(({ events }) => events.length > 0)
    if (parts.length === 0) continue
    const transaction = inputs.get(transactionIndex)
    const made = transaction && attributionOf(transaction, { timestamp, logs: own }, derivation).made
    for (const part of parts) {
      const state = storedHeld(part.vault.id, transactionIndex)
      const flows = readFlows(part, made, followHolders(part, { state, timestamp, made }))
      recordEventParts({ place, part, flows }, storedRequests(part.vault.id, transactionIndex), rows)
    }
  }
  return rows
}

type Credited = Pick<AttributedEvents, 'credits' | 'strangers'>

const none: Credited = { credits: new Map(), strangers: new Map() }

/** Credits the events of a transaction to distributors and records its attributions. */
function credit(
  input: {
    place: TxPosition
    logs: readonly RawLog[]
    transaction: RawTransaction
    attribution: Attribution
    parts: ReadonlyMap<number, VaultTransaction>
    flows: ReadonlyMap<number, Flows>
  },
  derivation: Derivation,
  state: DeriveState,
  rows: DerivedRows,
): Credited {
  const { place, logs, transaction, attribution, parts, flows } = input
  const { number: blockNumber, timestamp } = place
  const { credits, strangers, summary, used } = attributeEvents({
    config: derivation.config,
    timestamp,
    transaction,
    logs,
    events: placeEvents(parts, flows, timestamp),
    attribution,
    isUsed: (vaultId, digest) => state.signatures.has(signatureKey(vaultId, digest)),
    ownerOf: createOwnerOf(derivation.config, timestamp, state),
  })
  for (const { vaultId, digest } of used) {
    state.signatures.add(signatureKey(vaultId, digest))
    rows.usedSignatures.push({ vaultId, digest, blockNumber })
  }
  rows.attributions.push({
    blockNumber,
    blockHash: place.hash,
    timestamp,
    transactionHash: transaction.hash,
    transactionIndex: transaction.transactionIndex,
    from: transaction.from,
    to: transaction.to,
    ...summary,
  })
  return { credits, strangers }
}

/** The attribution in the calldata of a transaction, read once. */
export function attributionOf(
  transaction: RawTransaction,
  { timestamp, logs }: { timestamp: number; logs: readonly RawLog[] },
  derivation: Derivation,
): Attribution {
  const { config, recover, attributions } = derivation
  const known = attributions.get(transaction)
  if (known) return known
  const standsFor = listStandingFor(logs, config, (log) =>
    (derivation.vaultsByContract.get(log.address) ?? []).flatMap((vault) => decodeVaultEvent(log, vault, logs) ?? []),
  )
  return readAttribution({ config, timestamp, transaction, logs, recover, ...(standsFor ? { standsFor } : {}) })
}

/** Transfers and events of each vault in one transaction, by vault id, in the order of the logs. */
function readVaultParts(
  logs: readonly RawLog[],
  timestamp: number,
  derivation: Derivation,
): Map<number, VaultTransaction> {
  const parts = new Map<number, VaultTransaction>()
  const partOf = (vault: DeriveVault): VaultTransaction => {
    const known = parts.get(vault.id)
    if (known) return known
    const part: VaultTransaction = { vault, transfers: [], events: [] }
    parts.set(vault.id, part)
    return part
  }
  for (const log of logs) {
    for (const vault of derivation.holdersByAddress.get(log.address) ?? []) {
      const holder = listHolders(vault, timestamp).get(log.address)
      const event = holder && decodeHolderEvent(log, holder)
      if (!event) continue
      const part = partOf(vault)
      part.holderEvents = [...(part.holderEvents ?? []), event]
    }
    if (log.topics[0] === transferTopic) {
      const vaults = derivation.vaultsByToken.get(log.address)
      const transfer = vaults && decodeTransfer(log)
      if (transfer) for (const vault of vaults) partOf(vault).transfers.push(transfer)
      continue
    }
    for (const vault of derivation.vaultsByContract.get(log.address) ?? []) {
      const event = decodeVaultEvent(log, vault, logs)
      if (event) partOf(vault).events.push(event)
    }
  }
  return parts
}

/**
 * Events of all vaults in force, in the order of the logs. Events of other contracts are ignored, also for matching calls: a
 * vault that entered the catalogue later was unknown when the block was derived.
 */
function placeEvents(
  parts: ReadonlyMap<number, VaultTransaction>,
  flows: ReadonlyMap<number, Flows>,
  timestamp: number,
): PlacedEvent[] {
  const placed = [...parts.values()].flatMap(({ vault, events }) =>
    vault.activeFrom > timestamp
      ? []
      : events.map((event) => ({
          vaultId: vault.id,
          vault,
          event,
          wallets: listWallets(vault, event, flows.get(vault.id)),
          keepers: listKeepersOf(event, flows.get(vault.id)),
        })),
  )
  return placed.sort((a, b) => a.event.logIndex - b.event.logIndex)
}

/** The wallets that an event concerns; for a claim's own code its receiver. */
function listWallets(vault: DeriveVault, event: VaultEvent, flows: Flows | undefined): string[] {
  if ('controller' in event) return [event.controller]
  const told = [...(flows?.deliveries.get(event)?.parts.keys() ?? [])]
  return event.kind === 'deposit' && hasAsyncDeposit(vault) ? [...new Set([event.owner, ...told])] : told
}

/** The wallets that keep shares a deposit minted. */
function listKeepersOf(event: VaultEvent, flows: Flows | undefined): string[] {
  return event.kind === 'deposit' ? [...(flows?.deliveries.get(event)?.parts.keys() ?? [])] : []
}

/** Whether nobody but the sender of a transaction is sent shares, as most deposits are: then nothing need be decoded. */
function isAllSendersOwn(
  { from }: Pick<RawTransaction, 'from'>,
  logs: readonly RawLog[],
  { vaultsByToken, holdersByAddress }: Derivation,
): boolean {
  const own = `0x${from.slice(2).padStart(64, '0')}`
  return logs.every(({ address, topics }) => {
    if (holdersByAddress.has(address)) return false
    return topics[0] !== transferTopic || topics[2] === own || topics[2] === zeroTopic || !vaultsByToken.has(address)
  })
}

/**
 * The wallets whose code at the block must be known: those that keep minted shares of a transaction's deposits and did not send
 * it. Pure.
 */
export function listKeepers(
  transaction: Pick<RawTransaction, 'from'>,
  logs: readonly RawLog[],
  derivation: Derivation,
): string[] {
  if (isAllSendersOwn(transaction, logs, derivation)) return []
  const parts = [...readVaultParts(logs, Number.POSITIVE_INFINITY, derivation).values()].filter(({ events }) =>
    events.some(({ kind }) => kind === 'deposit'),
  )
  const keepers = parts.flatMap((part) => {
    // The amounts that accounts of holders held before are not known here: all who may keep shares are asked about.
    const input = { state: emptyState(), timestamp: Number.POSITIVE_INFINITY, made: undefined, isUnbounded: true }
    const flows = readFlows(part, undefined, followHolders(part, input))
    const named = (part.holderEvents ?? []).flatMap((event) =>
      event.kind === 'in' ? [event.account] : event.kind === 'move' ? [event.to] : [],
    )
    return [
      ...[...flows.wallets].flatMap(([pot, { received }]) => (received > 0n ? [partsOf(pot).account] : [])),
      ...part.events.flatMap((event) => listKeepersOf(event, flows)),
      ...named,
    ].filter((wallet) => !keepsNothing(part.vault, wallet))
  })
  return [...new Set(keepers)].filter((wallet) => wallet !== transaction.from).sort()
}
