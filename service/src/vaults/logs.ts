import type { RawLog } from '../rpc/raw.js'
import type { MakingCall } from './calls.js'
import type { EmittedEvent, EmittingVault, VaultEvent } from './events.js'
import { vaultKinds } from './kinds.js'

/** Events by first topic, and calls by selector, of a contract. */
type Tables = { emits: ReadonlyMap<string, EmittedEvent>; calls: ReadonlyMap<string, MakingCall> }

const toTables = (contract: { emits: readonly EmittedEvent[]; calls: readonly MakingCall[] }): Tables => ({
  emits: new Map(contract.emits.map((each) => [each.topic, each])),
  calls: new Map(contract.calls.map((each) => [each.selector, each])),
})

/** By the name of the kind: the vault itself, and its further contracts by their names. */
const tables = new Map(
  vaultKinds.map((kind) => {
    const beside = Object.entries(kind.beside ?? {}).map(([name, contract]) => [name, toTables(contract)] as const)
    return [kind.name, { own: toTables(kind), beside: new Map(beside) }] as const
  }),
)

/** First topics of all events of vaults and their further contracts: the calldata of transactions with them is stored. */
export const vaultTopics: readonly string[] = [
  ...new Set(
    [...tables.values()].flatMap(({ own, beside }) =>
      [own, ...beside.values()].flatMap(({ emits }) => [...emits.keys()]),
    ),
  ),
]

/** The events and calls at an address of a vault; undefined if the address does not belong to the vault. */
function tablesAt(vault: EmittingVault, address: string): Tables | undefined {
  const kind = tables.get(vault.kind)
  if (!kind) return undefined
  if (address === vault.address) return kind.own
  for (const name in vault.contracts) if (vault.contracts[name] === address) return kind.beside.get(name)
  return undefined
}

/**
 * Decodes an event of a vault; undefined for a log of another kind or shape. `logs` holds at least those of its transaction, in
 * their order: some events are understood by their neighbours. Never throws.
 */
export function decodeVaultEvent(log: RawLog, vault: EmittingVault, logs: readonly RawLog[]): VaultEvent | undefined {
  return tablesAt(vault, log.address)
    ?.emits.get(log.topics[0] ?? '')
    ?.read(log, vault, logs)
}

/** The event-making call with this selector at one of a vault's contracts; undefined if it is unknown. */
export function findMakingCall(vault: EmittingVault, address: string, selector: string): MakingCall | undefined {
  return tablesAt(vault, address)?.calls.get(selector)
}
