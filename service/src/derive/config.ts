import { findVaultKind, isVaultAddress } from '../vaults/index.js'

/** A vault as the derivation sees it. Addresses lower-case, instants in unix seconds of chain time. */
export type DeriveVault = {
  id: number
  address: string
  kind: string
  receiptToken: string
  asset: string
  assetDecimals: number
  escrow: string | null
  /** Contracts beside it, by the name its kind gives them. */
  contracts?: Readonly<Record<string, string>>
  startBlock: number
  activeFrom: number
}

export type SignedOnlySetting = { from: number; signedOnly: boolean }

/** Everything beside the chain that decides derived rows; each part holds from an instant of chain time. */
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

/** Deposits need a request first, and the Deposit event is the claim (ERC-7540). */
export function hasAsyncDeposit(vault: Pick<DeriveVault, 'kind'>): boolean {
  return findVaultKind(vault.kind)?.asyncDeposit === true
}

/** Redemptions need a request first, and the Withdraw event is the claim (ERC-7540). */
export function hasAsyncRedeem(vault: Pick<DeriveVault, 'kind'>): boolean {
  return findVaultKind(vault.kind)?.asyncRedeem === true
}

/** Whether an address holds shares of others only: the vault, a contract beside it, its escrow. It is never a holder. */
export function holdsForOthers(vault: DeriveVault, address: string): boolean {
  return address === vault.escrow || isVaultAddress(vault, address)
}

/** One dated line of configuration and the instant from which it decides rows. */
export type DatedLine = { line: string; from: number }

const shapeMark = 'shape '

/** The rules by which rows are derived. Another number derives everything that was derived by older rules again. */
const rulesLine: DatedLine = { line: 'rules 3', from: 0 }

/** The configuration as dated lines: two configurations give the same rows below the earliest line they do not share. */
export function listDatedLines(config: DeriveConfig): DatedLine[] {
  const lines: DatedLine[] = [rulesLine]
  for (const [id, from] of config.distributors) lines.push({ line: `distributor ${id} ${from}`, from })
  for (const [id, settings] of config.signedOnly)
    for (const { from, signedOnly } of settings) lines.push({ line: `signed-only ${id} ${signedOnly} ${from}`, from })
  for (const { address, kind, receiptToken, escrow, contracts = {}, activeFrom } of config.vaults) {
    const beside = Object.entries(contracts).map(([name, contract]) => ` ${name} ${contract}`)
    const shape = `${address} ${kind} ${receiptToken} ${escrow ?? ''}${beside.sort().join('')}`
    lines.push({ line: `vault ${shape} ${activeFrom}`, from: activeFrom })
    // Balances and requests are counted from a vault's first block, long before it counts for anybody.
    lines.push({ line: `${shapeMark}${shape}`, from: 0 })
  }
  for (const signer of config.signers) lines.push({ line: `signer ${signer}`, from: 0 })
  for (const entryPoint of config.entryPoints) lines.push({ line: `entry-point ${entryPoint}`, from: 0 })
  return lines
}

/** Whether two configurations watch and derive the same. */
export function isSameConfig(a: DeriveConfig, b: DeriveConfig): boolean {
  const isDivergent = findDivergence(listDatedLines(a), listDatedLines(b)) !== undefined
  return !isDivergent && JSON.stringify(a.vaults) === JSON.stringify(b.vaults)
}

/**
 * The earliest instant at which two configurations may give different rows; undefined when they agree. What a vault is
 * matters only where both know the vault: one that comes or goes does so from its date.
 */
export function findDivergence(a: readonly DatedLine[], b: readonly DatedLine[]): number | undefined {
  const differing = [...findMissing(a, b), ...findMissing(b, a)]
  return differing.length === 0 ? undefined : Math.min(...differing.map(({ from }) => from))
}

function findMissing(lines: readonly DatedLine[], other: readonly DatedLine[]): DatedLine[] {
  const known = new Set(other.map(({ line }) => line))
  const shapes = new Set(other.filter(({ line }) => line.startsWith(shapeMark)).map(nameShape))
  return lines.filter(
    (each) => !known.has(each.line) && (!each.line.startsWith(shapeMark) || shapes.has(nameShape(each))),
  )
}

/** Which vault a line about its shape is of. */
function nameShape({ line }: DatedLine): string {
  return line.split(' ', 2).join(' ')
}
