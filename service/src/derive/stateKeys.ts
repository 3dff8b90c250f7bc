import { transferTopic } from '../rpc/abis.js'
import type { RawBlock } from '../rpc/raw.js'
import { listDigests } from './attribution.js'
import { attributionOf, type Derivation } from './derive.js'
import { decodeTransfer, decodeVaultEvent, eventParties, type VaultEvent } from './events.js'
import { type HeldKeys, listHeldKeys } from './holderKeys.js'
import { holderKey, ownerKey, type RequestLot, requestKey, signatureKey } from './rows.js'
import { decodeOwner, prefixOf } from './subAccounts.js'

/** The keys of the state that derivation needs before a block. */
export type StateKeys = {
  holders: Map<string, { vaultId: number; wallet: string }>
  requests: Map<string, RequestOwner>
  signatures: Map<string, { vaultId: number; digest: string }>
  /** Registrations that may name the owner of a wallet. */
  owners: Map<string, { forwarder: string; prefix: string }>
  held: HeldKeys['held']
}

/** Keys of the state a block needs before it can be derived: holders, controllers of requests, signatures. */
export function listStateKeys(
  block: Pick<RawBlock, 'timestamp' | 'logs' | 'transactions'>,
  derivation: Derivation,
): StateKeys {
  const holders: StateKeys['holders'] = new Map()
  const requests: StateKeys['requests'] = new Map()
  const owners: StateKeys['owners'] = new Map()
  const addOwner = (address: string) => {
    const prefix = prefixOf(address)
    for (const { address: forwarder } of derivation.config.forwarders ?? [])
      owners.set(ownerKey(forwarder, prefix), { forwarder, prefix })
  }
  const vaultsOf = new Map<number, Set<number>>()
  for (const log of block.logs) {
    const registered = decodeOwner(log)
    if (registered) addOwner(registered.owner)
    if (log.topics[0] === transferTopic) {
      const vaults = derivation.vaultsByToken.get(log.address)
      const transfer = vaults && decodeTransfer(log)
      if (!transfer) continue
      for (const wallet of [transfer.from, transfer.to]) addOwner(wallet)
      for (const { id } of vaults)
        for (const wallet of [transfer.from, transfer.to]) holders.set(holderKey(id, wallet), { vaultId: id, wallet })
      continue
    }
    for (const vault of derivation.vaultsByContract.get(log.address) ?? []) {
      const event = decodeVaultEvent(log, vault, block.logs)
      if (!event) continue
      const told = vaultsOf.get(log.transactionIndex)
      if (told) told.add(vault.id)
      else vaultsOf.set(log.transactionIndex, new Set([vault.id]))
      for (const party of eventParties(event)) addOwner(party)
      const controllers = 'controller' in event ? [event.controller] : [event.sender, event.owner]
      for (const kind of ['deposit', 'redeem'] as const)
        for (const controller of controllers)
          requests.set(requestKey(vault.id, kind, controller), { vaultId: vault.id, kind, controller })
      if (!mayRefund(event)) continue
      const refund = { vaultId: vault.id, kind: 'refund', controller: event.owner } as const
      requests.set(requestKey(vault.id, 'refund', event.owner), refund)
    }
  }
  const { held } = listHeldKeys(block, derivation)
  for (const { vaultId, wallet } of held.values()) holders.set(holderKey(vaultId, wallet), { vaultId, wallet })
  return { holders, requests, signatures: listSignatureKeys(block, vaultsOf, derivation), owners, held }
}

/** Whether an event gives a deposit back, or makes one that may be. */
function mayRefund(event: VaultEvent): event is Extract<VaultEvent, { kind: 'deposit' | 'withdraw' }> {
  return (
    (event.kind === 'deposit' && event.refundable !== undefined) ||
    (event.kind === 'withdraw' && event.refunds !== undefined)
  )
}

/** Signatures of ours in the transactions of vault events. Their attributions are cached for the derivation that follows. */
function listSignatureKeys(
  block: Pick<RawBlock, 'timestamp' | 'logs' | 'transactions'>,
  vaultsOf: ReadonlyMap<number, ReadonlySet<number>>,
  derivation: Derivation,
): StateKeys['signatures'] {
  const signatures: StateKeys['signatures'] = new Map()
  for (const transaction of block.transactions) {
    const vaultIds = vaultsOf.get(transaction.transactionIndex)
    if (!vaultIds) continue
    const logs = block.logs.filter((log) => log.transactionIndex === transaction.transactionIndex)
    const attribution = attributionOf(transaction, { timestamp: block.timestamp, logs }, derivation)
    derivation.attributions.set(transaction, attribution)
    for (const digest of listDigests(attribution))
      for (const vaultId of vaultIds) signatures.set(signatureKey(vaultId, digest), { vaultId, digest })
  }
  return signatures
}

export type RequestOwner = Pick<RequestLot, 'vaultId' | 'kind' | 'controller'>
