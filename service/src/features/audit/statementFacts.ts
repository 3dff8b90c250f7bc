import { formatUnits, parseDecimal, usdDecimals } from '../../kernel/amount.js'
import type { Deposited } from './coverage.js'

/** Kinds of rows that the USD-days of a vault follow from. */
export const inputNames = ['lots', 'snapshots', 'prices', 'mints', 'readings', 'identities'] as const
export type InputName = (typeof inputNames)[number]

/** A vault of a statement. `inputs`: SHA-256 of the ids and values its USD-days follow from. */
export type StatementVault = {
  chainId: number
  vault: string
  opportunityId: string
  usdDays: string
  unpricedSeconds: number
  unguardedSeconds: number
  staged: number
  /** Shares at the last snapshot of the month. */
  coverage: {
    attributed: string
    unattributed: string
    drift: string
    supply: string | null
    /** Shares that deposits of the month minted. */
    deposited: Deposited
  }
  inputs: Record<InputName, string>
}

/** The amount owed: USD-days × rate a year. */
export type StatementRate = {
  bps: number
  owedUsd: string
  /** The same in smallest units of a token, at its price at the end of the month. */
  token: { chainId: number; address: string; priceUsd: string; priceObservationId: number; owed: string } | null
}

/** The facts of a month of a distributor. */
export type StatementFacts = {
  distributorId: string
  /** YYYY-MM, UTC: from its first instant up to that of the next month. */
  month: string
  from: string
  to: string
  /** The version of the rules that held when the month began, and those that came in it. */
  rulesVersion: number
  rules: readonly { version: number; from: string }[]
  /**
   * Up to when each chain is counted, and the block it rests on: the newest snapshot before the end of the month; of a chain
   * that is not confirmed to it the newest confirmed block.
   */
  chains: readonly { chainId: number; blockNumber: number; blockHash: string; to: string }[]
  vaults: readonly StatementVault[]
  usdDays: string
  rate: StatementRate | null
}

/** How a vault's USD-days differ from those of the revision before, and what changed since. */
export type StatementChange = {
  chainId: number
  vault: string
  before: string
  after: string
  difference: string
  reasons: readonly string[]
}

const yearDays = 365n
const allBps = 10_000n

/** US dollars owed for USD-days at a rate of hundredths of a percent a year, cut after 18 digits. Pure. */
export function computeOwed(usdDays: string, bps: number): string {
  const owed = (parseDecimal(usdDays, usdDecimals) * BigInt(bps)) / (allBps * yearDays)
  return formatUnits(owed, usdDecimals)
}

/** US dollars in smallest units of a token, cut. Pure. */
export function computeTokens(usd: string, token: { decimals: number; priceUsd: string }): string {
  const price = parseDecimal(token.priceUsd, usdDecimals)
  return String((parseDecimal(usd, usdDecimals) * 10n ** BigInt(token.decimals)) / price)
}

/** Whether two statements of a month pay the same, for the same reasons: names and settings do not count. Pure. */
export function paysTheSame(one: StatementFacts, other: StatementFacts): boolean {
  const payOf = ({ rulesVersion, rules, vaults, rate }: StatementFacts) =>
    JSON.stringify([
      ...[rulesVersion, rules, rate],
      vaults.map(({ chainId, vault, usdDays, inputs }) => [
        chainId,
        vault,
        usdDays,
        inputNames.map((name) => inputs[name]),
      ]),
    ])
  return payOf(one) === payOf(other)
}

const reasonOf: Record<InputName, string> = {
  lots: 'shares moved otherwise: lots changed',
  snapshots: 'snapshots came, went or tell another share price',
  prices: 'prices of the asset came or went',
  mints: 'mints of shares changed',
  readings: 'share prices were read where shares were minted',
  identities: 'the tokens that the vault names were read otherwise',
}

/** How the vaults of a statement differ from those of an earlier revision, and why. Pure. */
export function listStatementChanges(before: StatementFacts, after: StatementFacts): StatementChange[] {
  const keyOf = ({ chainId, vault }: StatementVault) => `${chainId} ${vault}`
  const [olds, news] = [before, after].map(({ vaults }) => new Map(vaults.map((each) => [keyOf(each), each])))
  const hasNewRules = JSON.stringify(before.rules) !== JSON.stringify(after.rules)
  return [...new Set([...(olds?.keys() ?? []), ...(news?.keys() ?? [])])].sort().flatMap((key): StatementChange[] => {
    const [old, now] = [olds?.get(key), news?.get(key)]
    const { chainId, vault } = now ?? old ?? { chainId: 0, vault: '' }
    const changed = inputNames.filter((name) => old?.inputs[name] !== now?.inputs[name]).map((name) => reasonOf[name])
    const [was, is] = [old?.usdDays ?? '0', now?.usdDays ?? '0']
    if (changed.length === 0 && was === is) return []
    const reasons = [...changed, ...(hasNewRules ? ['other rules hold'] : [])]
    const difference = formatUnits(parseDecimal(is, usdDecimals) - parseDecimal(was, usdDecimals), usdDecimals)
    const others = ['the share that the price of the asset follows from is worth another price']
    return [{ chainId, vault, before: was, after: is, difference, reasons: reasons.length > 0 ? reasons : others }]
  })
}
