import type { DeclaredHolder } from '../vaults/holders/index.js'
import { findVaultKind } from '../vaults/index.js'

/** A vault as the derivation sees it. Addresses lower-case, instants in unix seconds of chain time. */
export type DeriveVault = {
  id: number
  address: string
  kind: string
  receiptToken: string
  asset: string
  assetDecimals: number
  escrow: string | null
  /** Further contracts of the vault, by the names its kind gives them. */
  contracts?: Readonly<Record<string, string>>
  startBlock: number
  activeFrom: number
  /** Contracts that keep its shares for accounts and are looked through; one may be declared again. */
  holders?: readonly DeclaredHolder[]
  /** Holders whose own view was found to contradict their events, with the chain time up to which everything was derived then. */
  doubts?: readonly { holder: string; at: number }[]
}

export type SignedOnlySetting = { from: number; signedOnly: boolean }

/** The configuration that decides derived rows together with the chain; each part holds from an instant of chain time. */
export type DeriveConfig = {
  chainId: number
  vaults: readonly DeriveVault[]
  /** Registered from when, by distributor. */
  distributors: ReadonlyMap<string, number>
  /** Settings by distributor, oldest first. */
  signedOnly: ReadonlyMap<string, readonly SignedOnlySetting[]>
  /** Addresses of our attribution keys, present and retired, lower-case. */
  signers: ReadonlySet<string>
  /** ERC-4337 entry points we unwrap, lower-case. */
  entryPoints: readonly string[]
  /** Whether one node's word is enough for bytes that are in a trace and not in the transaction's input. */
  trustTraces?: boolean
  /** Contracts that call vaults in the name of the sender in the event, with their dates. Addresses lower-case. */
  forwarders?: readonly { address: string; from: number; startBlock?: number }[]
  /**
   * From which instant a suffix around a `handleOps` counts for no event inside its operations: version 3 of the rules. Absent:
   * from the start.
   */
  operationsApartFrom?: number
  /** Settlement contracts (GPv2) of our order books: our signature over a settlement of one order speaks for its receiver. Lower-case. */
  settlements?: readonly string[]
}

/** Whether a code names a distributor registered at an instant. */
export function isRegistered(config: DeriveConfig, code: string, timestamp: number): boolean {
  const from = config.distributors.get(code)
  return from !== undefined && from <= timestamp
}

/** Whether a distributor accepts signed attributions only, at an instant. */
export function isSignedOnly(config: DeriveConfig, distributorId: string, timestamp: number): boolean {
  const settings = config.signedOnly.get(distributorId) ?? []
  return settings.findLast((setting) => setting.from <= timestamp)?.signedOnly ?? false
}

/** Whether operations are apart from the frames around their bundle, at an instant. */
export function areOperationsApart({ operationsApartFrom = 0 }: DeriveConfig, timestamp: number): boolean {
  return operationsApartFrom <= timestamp
}

/** The forwarders at an instant. */
export function listForwarders(config: DeriveConfig, timestamp: number): ReadonlySet<string> {
  return new Set((config.forwarders ?? []).flatMap(({ address, from }) => (from <= timestamp ? [address] : [])))
}

/** Deposits need a request first, and the Deposit event is the claim (ERC-7540). */
export function hasAsyncDeposit(vault: Pick<DeriveVault, 'kind'>): boolean {
  return findVaultKind(vault.kind)?.asyncDeposit === true
}

/** Redemptions need a request first, and the Withdraw event is the claim (ERC-7540). */
export function hasAsyncRedeem(vault: Pick<DeriveVault, 'kind'>): boolean {
  return findVaultKind(vault.kind)?.asyncRedeem === true
}
