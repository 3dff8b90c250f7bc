import { mayCarryAttribution, mayHoldOperation, operationTopics, type Recover } from '@openearn/attribution'
import type { Hex } from 'viem'
import type { DeriveVault } from '../../derive/config.js'
import { createDerivation, type Derivation, derive, listKeepers } from '../../derive/derive.js'
import { vaultTopics, watchedTopics } from '../../derive/events.js'
import { openFastRecover } from '../../derive/fastRecover.js'
import { listHeldKeys } from '../../derive/holderKeys.js'
import { isPlain } from '../../derive/plain.js'
import { type DerivedRows, type DeriveState, emptyState, holderKey } from '../../derive/rows.js'
import { listClaims, listWantedReadings, type ReadBlock, type RequestReading } from '../../derive/settled.js'
import { tradeTopic } from '../../derive/settlements.js'
import { listStateKeys, type StateKeys } from '../../derive/stateKeys.js'
import { ownerTopic } from '../../derive/subAccounts.js'
import type { Queryable } from '../../postgres/pool.js'
import type { RawBlock } from '../../rpc/raw.js'
import { defineProjection } from '../../sync/defineProjection.js'
import type { ListKeepers, NeedsTrace, Place, Projection, Question, Source } from '../../sync/projection.js'
import { listStoredLogs } from '../../sync/storeRaw.js'
import { listVaultAddresses } from '../../vaults/configured/index.js'
import { holderTopics } from '../../vaults/holders/index.js'
import { requestTopics } from '../../vaults/index.js'
import { listLines, loadConfiguration } from './storeConfiguration.js'
import { recordCutMoves } from './storeCutMoves.js'
import { addAccounts, addHeld, recordHeld } from './storeHeld.js'
import { findOwners, recordOwners } from './storeOwners.js'
import { positionTables, recordPositions, rewindPositions } from './storePositions.js'
import { listReadings, recordReadings, removeReadings } from './storeReadings.js'
import { copyPositions, settlePositions } from './storeRebuild.js'
import { recallChanges } from './storeRecall.js'
import { findUsedSignatures, recordUsedSignatures } from './storeSignatures.js'
import { addHolders, addRequests } from './storeState.js'

/**
 * Derives the holders of each vault, their lots and their requests. It decodes the logs of vaults and unwraps the calldata of
 * their transactions once; later projections take the results from its rows.
 */
export type Positions = Projection<Derivation, PositionsState, DerivedRows>

/** `isWhole`: nothing was derived before it, so what it does not know is not there. */
type PositionsState = DeriveState & { isWhole: boolean }

export function createPositions(recover: Recover = openFastRecover()): Positions {
  return defineProjection<Derivation, PositionsState, DerivedRows>({
    name: 'positions',
    tables: positionTables,
    configuration: async (db, chainId) => createDerivation(await loadConfiguration(db, chainId), recover),
    lines: ({ config }) => listLines(config),
    sources: listSources,
    restrict: ({ config }, isRead) =>
      createDerivation(
        {
          ...config,
          vaults: config.vaults.filter((vault) => listKeys(vault).every(isRead)),
          forwarders: (config.forwarders ?? []).filter((forwarder) => isRead(forwarderKey(forwarder))),
        },
        recover,
      ),
    // Before a vault counts, its events credit nobody. A forwarder's registrations concern the events of all vaults.
    standsAlone: ({ config }, timestamp) =>
      (config.forwarders ?? []).length === 0 && config.vaults.every(({ activeFrom }) => activeFrom > timestamp),
    observations: {
      want: wantReadings,
      record: recordReadings,
      list: listReadings,
      remove: removeReadings,
    },
    open: (isWhole) => ({ ...emptyState(), isWhole }),
    load: async (db, { chainId, config, state, blocks, place }) => {
      if (state.isWhole) return
      const [{ timestamp } = { timestamp: 0 }] = blocks
      const keys = collectKeys(blocks, config)
      await addHeldOf(db, { state, keys, blocks, config, place })
      await addHolders(db, state, listUnknown(keys.holders, state.holders), place)
      await addRequests(db, state, listUnknown(keys.requests, state.requests), place, timestamp)
      const signatures = [...keys.signatures].flatMap(([key, value]) => (state.signatures.has(key) ? [] : [value]))
      for (const key of await findUsedSignatures(db, signatures, place)) state.signatures.add(key)
      const owners = listUnknown(keys.owners, state.owners)
      for (const [key, owner] of await findOwners(db, chainId, owners.values(), place)) state.owners.set(key, owner)
    },
    derive: (block, { config, state }) => derive(withReadings(block), config, state),
    write: async (db, results, { chainId, place, isLive }) => {
      const rows = joinRows(results)
      if (isLive) await recordPositions(db, chainId, rows)
      else await copyPositions(db, chainId, rows, place)
      await recordUsedSignatures(db, chainId, rows.usedSignatures, place)
      await recordHeld(db, chainId, rows.heldChanges, place)
      await recordCutMoves(db, chainId, rows.cutMoves, place)
      await recordOwners(db, chainId, rows.owners, place)
    },
    settle: settlePositions,
    size: ({ holders, requests, signatures, owners, held }) =>
      holders.size + requests.size + signatures.size + owners.size + held.size,
    recall: recallChanges,
    rewind: async (tx, above, { only }) => {
      await rewindPositions(
        tx,
        above,
        only && {
          vaultIds: only.config.vaults.map(({ id }) => id),
          forwarders: (only.config.forwarders ?? []).map(({ address }) => address),
        },
      )
      return 0
    },
  })
}

/** A block with what vaults answered about it. */
export function withReadings(block: RawBlock): ReadBlock {
  const said = block.observations?.get('positions')
  return said ? { ...block, requestReadings: said as readonly RequestReading[] } : block
}

/** Every request that claims of the blocks may be of, as the raw store and the blocks name them. */
async function wantReadings(
  db: Queryable,
  { chainId, config, blocks }: { chainId: number; config: Derivation; blocks: readonly RawBlock[] },
): Promise<Question<RequestReading>[]> {
  const { vaultsByContract } = config
  const claims = blocks.flatMap((block) => listClaims(block, vaultsByContract))
  const first = blocks[0]?.number
  if (claims.length === 0 || first === undefined) return []
  const earlier = await listStoredLogs(db, {
    ...{ chainId, from: 0, to: first - 1, topics: requestTopics },
    addresses: [...new Set(claims.flatMap(({ vault }) => listVaultAddresses(vault)))],
    about: [...new Set(claims.map(({ controller }) => `0x${controller.slice(2).padStart(64, '0')}`))],
  })
  return wantViews(blocks, earlier, vaultsByContract)
}

/** The questions for vaults at blocks with claims: of each request what is pending and claimable, together. */
export function wantViews(...input: Parameters<typeof listWantedReadings>): Question<RequestReading>[] {
  return listWantedReadings(...input).map(({ blockNumber, views, ...wanted }) => ({
    blockNumber,
    views: [views.pending, ...(views.claimable ? [views.claimable] : [])],
    read: ({ before, after }) => ({ ...wanted, before: sumUp(before), after: sumUp(after) }),
  }))
}

/** Unknown where a view was not answered. */
function sumUp(told: readonly (bigint | undefined)[]): bigint | 'unknown' {
  return told.reduce<bigint | 'unknown'>(
    (sum, each) => (sum === 'unknown' || each === undefined ? 'unknown' : sum + each),
    0n,
  )
}

/**
 * The names of a vault's sources: its own, and one for each further contract and each declared holder, so that a later one is
 * read alone.
 */
function listKeys(vault: DeriveVault): string[] {
  const [address, ...beside] = listVaultAddresses(vault)
  const holders = listHolderAddresses(vault).map((holder) => `${address} holder ${holder}`)
  return [vault.address, ...beside.map((contract) => `${address} ${contract}`), ...holders]
}

function listHolderAddresses({ holders = [] }: DeriveVault): string[] {
  return [...new Set(holders.map(({ address }) => address))]
}

/** The name of a forwarder's source. */
function forwarderKey({ address }: { address: string }): string {
  return `forwarder ${address}`
}

/** The sources of a vault: the vault with its receipt token, and each further contract. */
function listVaultSources(vault: DeriveVault, more: Pick<Source, 'needsTrace' | 'keepers'>): Source[] {
  const { address, receiptToken, startBlock } = vault
  const asked = { topics: watchedTopics, fromBlock: startBlock, calldata: vaultTopics, ...more }
  const beside = listVaultAddresses(vault).slice(1)
  const addresses = [[...new Set([address, receiptToken])], ...beside.map((contract) => [contract])]
  const [own, others] = [listKeys(vault).slice(0, addresses.length), listKeys(vault).slice(addresses.length)]
  const holders = listHolderAddresses(vault).map((holder, at): Source => {
    const topics = (vault.holders ?? []).flatMap(({ address: each, kind }) =>
      each === holder ? holderTopics(kind) : [],
    )
    return {
      key: others[at] ?? '',
      addresses: [holder],
      topics: [...new Set(topics)],
      fromBlock: startBlock,
      calldata: [],
    }
  })
  return [...own.map((key, at) => ({ key, addresses: addresses[at] ?? [], ...asked })), ...holders]
}

/** The sources of all vaults, and the logs that separate the operations of a bundle. */
export function listSources(derivation: Derivation): Source[] {
  const { config, entryPoints } = derivation
  const needsTrace: NeedsTrace = (transaction, logs) => !isPlain(transaction, logs, derivation)
  const keepers: ListKeepers = (transaction, logs) => listKeepers(transaction, logs, derivation)
  const vaults = config.vaults.flatMap((vault) => listVaultSources(vault, { needsTrace, keepers }))
  if (vaults.length === 0) return []
  const first = Math.min(...config.vaults.map(({ startBlock }) => startBlock))
  const owners = (config.forwarders ?? []).map(
    (forwarder): Source => ({
      key: forwarderKey(forwarder),
      addresses: [forwarder.address],
      topics: [ownerTopic],
      fromBlock: forwarder.startBlock ?? first,
      calldata: [],
    }),
  )
  const operations: Source = {
    key: 'user operations',
    addresses: config.entryPoints,
    topics: Object.values(operationTopics),
    fromBlock: 0,
    calldata: [],
    // Sent to an entry point, or with an operation's encoded form and a code in it.
    beside: ({ to, input }) =>
      to !== null && (entryPoints.has(to) || (mayCarryAttribution(input as Hex) && mayHoldOperation(input))),
  }
  return [...vaults, ...owners, operations, ...listSettlements(config.settlements ?? [])]
}

/**
 * Whose order a settlement filled, which its Trade events say: read in the transactions of vaults whether or not orders
 * of this database are followed there, so that another one derives the same.
 */
function listSettlements(settlements: readonly string[]): Source[] {
  return settlements.map((settlement) => ({
    key: `settlement ${settlement}`,
    addresses: [settlement],
    topics: [tradeTopic],
    fromBlock: 0,
    calldata: [],
    beside: ({ to, input }) =>
      to === settlement || (mayCarryAttribution(input as Hex) && input.includes(settlement.slice(2))),
  }))
}

function collectKeys(blocks: readonly Parameters<typeof listStateKeys>[0][], derivation: Derivation): StateKeys {
  const all: StateKeys = {
    holders: new Map(),
    requests: new Map(),
    signatures: new Map(),
    owners: new Map(),
    held: new Map(),
  }
  for (const block of blocks) {
    const keys = listStateKeys(block, derivation)
    for (const [key, value] of keys.holders) all.holders.set(key, value)
    for (const [key, value] of keys.requests) all.requests.set(key, value)
    for (const [key, value] of keys.signatures) all.signatures.set(key, value)
    for (const [key, value] of keys.owners) all.owners.set(key, value)
    for (const [key, value] of keys.held) all.held.set(key, value)
  }
  return all
}

/** Adds what declared holders keep: for the accounts that blocks name, and for all where a block may end or begin it. */
async function addHeldOf(
  db: Queryable,
  input: { state: PositionsState; keys: StateKeys; blocks: readonly RawBlock[]; config: Derivation; place: Place },
): Promise<void> {
  const { state, keys, blocks, config, place } = input
  await addHeld(db, state, listUnknown(keys.held, state.held), place)
  const known = { state, least: new Map<string, bigint>() }
  const doubtful = new Map(blocks.flatMap((block) => [...listHeldKeys(block, config, known).doubtful]))
  for (const { vaultId, wallet } of await addAccounts(db, state, [...doubtful.values()], place))
    keys.holders.set(holderKey(vaultId, wallet), { vaultId, wallet })
}

function listUnknown<T>(keys: ReadonlyMap<string, T>, known: ReadonlyMap<string, unknown>): ReadonlyMap<string, T> {
  return new Map([...keys].filter(([key]) => !known.has(key)))
}

function joinRows(results: readonly DerivedRows[]): DerivedRows {
  const all = <T>(read: (rows: DerivedRows) => readonly T[]): T[] => results.flatMap((rows) => read(rows))
  return {
    balanceChanges: all((rows) => rows.balanceChanges),
    lotChanges: all((rows) => rows.lotChanges),
    requests: all((rows) => rows.requests),
    requestChanges: all((rows) => rows.requestChanges),
    usedSignatures: all((rows) => rows.usedSignatures),
    cutMoves: all((rows) => rows.cutMoves),
    heldChanges: all((rows) => rows.heldChanges),
    owners: all((rows) => rows.owners),
    interactions: [],
    attributions: [],
    eventParts: [],
    pendingChanges: [],
    shareMints: [],
  }
}
