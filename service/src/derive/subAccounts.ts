import { toEventSelector } from 'viem'
import type { RawBlock, RawLog } from '../rpc/raw.js'
import { type DeriveConfig, listForwarders } from './config.js'
import { type DerivedRows, type DeriveState, ownerKey } from './rows.js'

/** Euler's connector: from now on an account owns the 256 that share its first 19 bytes. */
export const ownerTopic: string = toEventSelector(
  'event OwnerRegistered(bytes19 indexed addressPrefix, address indexed owner)',
)

/** Characters of the first 19 bytes of an address. */
const prefixLength = 40

export const prefixOf = (address: string): string => address.slice(0, prefixLength)

/** A registration, or undefined when the log is another or names an owner that does not share the bytes. */
export function decodeOwner({ topics, data }: RawLog): { prefix: string; owner: string } | undefined {
  const [first, told, account] = topics
  if (first !== ownerTopic || told === undefined || account === undefined) return undefined
  if (topics.length !== 3 || data !== '0x') return undefined
  const owner = `0x${account.slice(26)}`
  const prefix = prefixOf(told)
  return prefixOf(owner) === prefix ? { prefix, owner } : undefined
}

/** Adds the registrations of the configured forwarders in a block. */
export function readOwners(block: RawBlock, { forwarders }: DeriveConfig, state: DeriveState, rows: DerivedRows): void {
  if (!forwarders || forwarders.length === 0) return
  for (const log of block.logs) {
    const told = forwarders.some(({ address }) => address === log.address) ? decodeOwner(log) : undefined
    const key = told && ownerKey(log.address, told.prefix)
    if (!key || state.owners.has(key)) continue
    state.owners.set(key, told.owner)
    rows.owners.push({ forwarder: log.address, ...told, blockNumber: block.number })
  }
}

/** The accounts that a forwarder's call of a vault may act for: the senders of the vault's events. The event decides which. */
export function listStandingFor(
  logs: readonly RawLog[],
  config: DeriveConfig,
  decode: (log: RawLog) => readonly { sender: string }[],
): ((call: { caller: string; target: string }) => readonly string[]) | undefined {
  const forwarders = new Set((config.forwarders ?? []).map(({ address }) => address))
  if (forwarders.size === 0) return undefined
  const byVault = new Map<string, Set<string>>()
  for (const log of logs)
    for (const { sender } of decode(log)) {
      const names = byVault.get(log.address) ?? new Set<string>()
      byVault.set(log.address, names.add(sender))
    }
  return ({ caller, target }) => (forwarders.has(caller) ? [...(byVault.get(target) ?? [])] : [])
}

/** Returns the owner of an account, as registered at the forwarders in force at an instant. */
export function createOwnerOf(
  config: DeriveConfig,
  timestamp: number,
  { owners }: DeriveState,
): (address: string) => string | undefined {
  const forwarders = [...listForwarders(config, timestamp)]
  return (address) => {
    for (const forwarder of forwarders) {
      const owner = owners.get(ownerKey(forwarder, prefixOf(address)))
      if (owner !== undefined) return owner
    }
    return undefined
  }
}
