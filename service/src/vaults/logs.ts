import { zeroAddress } from 'viem'
import type { RawLog } from '../rpc/raw.js'
import type { MakingCall } from './calls.js'
import type { EmittedEvent, EmittingVault, VaultEvent } from './events.js'
import { vaultKinds } from './kinds.js'

/** What a contract emits and is called for, by first topic and by selector. */
type Tables = { emits: ReadonlyMap<string, EmittedEvent>; calls: ReadonlyMap<string, MakingCall> }

const toTables = (contract: { emits: readonly EmittedEvent[]; calls: readonly MakingCall[] }): Tables => ({
  emits: new Map(contract.emits.map((each) => [each.topic, each])),
  calls: new Map(contract.calls.map((each) => [each.selector, each])),
})

/** By the name of the kind: the vault itself, and the contracts beside it by their names. */
const tables = new Map(
  vaultKinds.map((kind) => {
    const beside = Object.entries(kind.beside ?? {}).map(([name, contract]) => [name, toTables(contract)] as const)
    return [kind.name, { own: toTables(kind), beside: new Map(beside) }] as const
  }),
)

/** First topics of everything vaults and the contracts beside them emit: they make a transaction's calldata worth keeping. */
export const vaultTopics: readonly string[] = [
  ...new Set(
    [...tables.values()].flatMap(({ own, beside }) =>
      [own, ...beside.values()].flatMap(({ emits }) => [...emits.keys()]),
    ),
  ),
]

/** What emits and is called at an address of a vault; undefined where the address is none of the vault's. */
function tablesAt(vault: EmittingVault, address: string): Tables | undefined {
  const kind = tables.get(vault.kind)
  if (!kind) return undefined
  if (address === vault.address) return kind.own
  for (const name in vault.contracts) if (vault.contracts[name] === address) return kind.beside.get(name)
  return undefined
}

/** An event of a vault, or undefined when the log is none, or of another shape. Never throws. */
export function decodeVaultEvent(log: RawLog, vault: EmittingVault): VaultEvent | undefined {
  return tablesAt(vault, log.address)
    ?.emits.get(log.topics[0] ?? '')
    ?.read(log, vault)
}

/** What a call to one of a vault's contracts makes it tell of; undefined when the call is not known. */
export function findMakingCall(vault: EmittingVault, address: string, selector: string): MakingCall | undefined {
  return tablesAt(vault, address)?.calls.get(selector)
}

/** The addresses of a vault: its own, then those of the contracts beside it. */
export function listVaultAddresses({ address, contracts }: Pick<EmittingVault, 'address' | 'contracts'>): string[] {
  return contracts === undefined ? [address] : [...new Set([address, ...Object.values(contracts)])]
}

/** The addresses of a vault, and who keeps shares in escrow for it. */
type HoldingVault = Pick<EmittingVault, 'address' | 'contracts'> & { escrow: string | null }

/** Nobody has the keys of these: shares they receive are lost to everybody. */
const burnAddresses: readonly string[] = [zeroAddress, '0x000000000000000000000000000000000000dead']

/** The vault, the contracts beside it and its escrow: they hold shares of others only. */
export function listOwnAddresses(vault: HoldingVault): string[] {
  return [...listVaultAddresses(vault), ...(vault.escrow === null ? [] : [vault.escrow])]
}

/** Whether an address holds shares of others only: the vault, a contract beside it, its escrow. */
export function holdsForOthers(vault: HoldingVault, address: string): boolean {
  return address === vault.escrow || isVaultAddress(vault, address)
}

/** Whether an address is never a holder: the zero and the burn address, and whoever holds for others. */
export function keepsNothing(vault: HoldingVault, address: string): boolean {
  return burnAddresses.includes(address) || holdsForOthers(vault, address)
}

/** All addresses that keep nothing, of a vault whose own addresses are known. */
export function listNonHolders(own: readonly string[]): ReadonlySet<string> {
  return new Set([...burnAddresses, ...own])
}

/** Whether an address is the vault or a contract beside it. */
export function isVaultAddress(vault: Pick<EmittingVault, 'address' | 'contracts'>, address: string): boolean {
  if (address === vault.address) return true
  for (const name in vault.contracts) if (vault.contracts[name] === address) return true
  return false
}
