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
