import { createHash } from 'node:crypto'
import { computePaidPrice, type Mint, type PricedSnapshot } from '../../src/derive/paidPrice.js'
import type { AuditFacts } from '../../src/features/audit/auditFindings.js'
import type { AuditChange, AuditVault } from '../../src/features/audit/auditPieces.js'
import { listStagedStretches } from '../../src/features/audit/auditStaged.js'

/** Months of a distributor as they would be read from the database, written by what happened in them. */

export type TestVault = {
  chainId: number
  assetDecimals: number
  blockSeconds: number
  snapshotSeconds: number
  lpFloor: bigint
  /** Assets per share at a second of the month. */
  priceAt(second: number): number
  /** Seconds of snapshots that were staged, by the factor. */
  spikes: Map<number, number>
}

type Deposit = {
  at: number
  vault: TestVault
  wallet: string
  usd: number
  attribution?: 'signed' | 'unsigned'
  isReplayed?: boolean
  sender?: string
  target?: string
  hash?: string
}

/** `part`: of what the wallet holds then. `isBare`: shares are sent away, without an event of the vault. */
type Exit = { at: number; vault: TestVault; wallet: string; part?: number; isBare?: boolean; sender?: string }

type Act = (Deposit & { kind: 'in' }) | (Exit & { kind: 'out' })

const exponent = 18
const start = Date.UTC(2026, 9, 1)
export const monthSeconds = 31 * 86_400
const staging = `0x${'57'.repeat(32)}`

const hashOf = (text: string) => `0x${createHash('sha256').update(text).digest('hex')}`
export const walletOf = (name: string) => hashOf(name).slice(0, 42)

export function openMonth(): {
  vault(of: Partial<TestVault>): TestVault
  deposit(of: Deposit): string
  exit(of: Exit): void
  approvals: string[]
  finish(): AuditFacts
} {
  const [vaults, acts, approvals]: [TestVault[], Act[], string[]] = [[], [], []]
  return {
    approvals,
    vault: (of) => {
      const standing = { chainId: 1, assetDecimals: 6, blockSeconds: 12, snapshotSeconds: 3_600, lpFloor: 10_000n }
      const made = { ...standing, priceAt: () => 1, spikes: new Map<number, number>(), ...of }
      vaults.push(made)
      return made
    },
    deposit: (of) => {
      const hash = of.hash ?? hashOf(`${acts.length} ${of.wallet} ${of.at}`)
      acts.push({ ...of, hash, kind: 'in' })
      return hash
    },
    exit: (of) => {
      acts.push({ ...of, kind: 'out' })
    },
    finish: () => ({
      ...{
        fromMs: start,
        toMs: start + monthSeconds * 1_000,
        approvalCodes: approvals,
        entryPoints: new Set<string>(),
      },
      vaults: vaults.map((vault, index) =>
        writeVault(vault, { index, acts: acts.filter((act) => act.vault === vault) }),
      ),
    }),
  }
}

function writeVault(vault: TestVault, { index, acts }: { index: number; acts: readonly Act[] }): AuditVault {
  const { assetDecimals, blockSeconds, snapshotSeconds, spikes, chainId, lpFloor } = vault
  const unit = 10 ** assetDecimals
  const lots = new Map<string, bigint>()
  const held = new Map<string, bigint>()
  const [changes, mints]: [AuditChange[], Mint[]] = [[], []]
  for (const act of [...acts].sort((a, b) => a.at - b.at)) {
    if (act.at >= monthSeconds) continue
    const blockNumber = 1_000_000 + Math.floor(act.at / blockSeconds)
    const atMs = start + Math.floor(act.at / blockSeconds) * blockSeconds * 1_000
    const before = lots.get(act.wallet) ?? 0n
    const price = vault.priceAt(act.at)
    const at = { atMs, blockNumber, wallet: act.wallet, before }
    if (act.kind === 'out') {
      const after = before - BigInt(Math.round(Number(before) * (act.part ?? 1)))
      if (after === before) continue
      lots.set(act.wallet, after)
      const hash = act.isBare ? null : hashOf(`out ${index} ${act.wallet} ${act.at}`)
      const sender = act.sender ?? act.wallet
      changes.push({ ...at, after, hash, sender, target: '0xvault', attribution: null, isReplayed: false })
      continue
    }
    const { usd, attribution = 'signed', isReplayed = false, sender = act.wallet, target = '0xvault' } = act
    const assets = BigInt(Math.round(usd * unit))
    const after = before + BigInt(Math.round((usd * unit) / price))
    lots.set(act.wallet, after)
    // What is put in before the month begins is held at its first instant.
    if (act.at < 0) {
      held.set(act.wallet, after)
      continue
    }
    changes.push({ ...at, after, hash: act.hash ?? '', sender, target, attribution, isReplayed })
    mints.push({ atMs, blockNumber, logIndex: changes.length, shares: after - before, assets })
  }
  const snapshots: PricedSnapshot[] = []
  for (let second = 0; second < monthSeconds; second += snapshotSeconds) {
    const full =
      BigInt(Math.round(vault.priceAt(second) * (spikes.get(second) ?? 1) * 1e12)) * 10n ** BigInt(exponent - 12)
    const blockNumber = 1_000_000 + Math.floor(second / blockSeconds) - 1
    snapshots.push({ atMs: start + second * 1_000, blockNumber, numerator: full, exponent, totalSupply: 10n ** 18n })
  }
  const steps = computePaidPrice({ snapshots, mints, readings: [] })
  const hashes = new Map(changes.map(({ hash }, place) => [place + 1, hash]))
  const named = steps.map((step) => {
    const transactionHash = 'sale' in step.by ? (hashes.get(step.by.sale.logIndex) ?? staging) : null
    return Object.assign(step, { transactionHash })
  })
  return {
    ...{ chainId, vault: `0x${index.toString(16).padStart(40, '0')}`, assetDecimals, lpFloor, held, changes },
    prices: steps.map(({ atMs, numerator }) => ({ atMs, numerator, exponent, priceUsd: '1' })),
    staged: listStagedStretches(named, 50),
  }
}
