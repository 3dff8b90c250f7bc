import { ConfigError } from '../../kernel/config.js'
import type { FindingCode } from '../metrics/index.js'

type WeightName = `weight${Capitalize<FindingCode>}`

/** Points for each percent that a finding touches. */
const weights: Record<WeightName, number> = {
  weightInAndOut: 10,
  weightLoop: 10,
  weightReplayedSignature: 10,
  // Three of them are habits of honest distributors too: all of a month alone is below `look`.
  weightUnsignedShare: 0.04,
  weightBelowFloor: 0.5,
  weightPaidByOneSender: 10,
  weightApprovalCode: 0.04,
  weightForeignCaller: 0.04,
  weightStaged: 10,
  weightBucketEnd: 10,
}

const defaults = {
  /** Points from which a finding should be looked at, and from which a month should not be paid as it is. */
  look: 5,
  refuse: 50,
  /** Blocks between a deposit and the withdrawal of the same shares. */
  inAndOutBlocks: 50,
  /** Blocks between a withdrawal and another wallet's deposit of the same worth; by how much worths may differ. */
  loopBlocks: 300,
  loopBps: 50,
  /** Deposits of the same worth among which nobody can tell whose they are. */
  loopChoices: 2,
  /** Blocks between two deposits of a batch that one sender pays for; wallets from which a batch counts. */
  senderBlocks: 50,
  senderWallets: 10,
  /** Part of a batch whose worths lie so near their median. */
  senderAlikePercent: 60,
  senderAlikeBps: 500,
  /** US dollars that a wallet holds at least once in the month, or it is dust; the vault's `lpFloor` where that is more. */
  floorUsd: 1,
  /** Length of a bucket; how near its end a deposit is made, and how soon after it the shares leave. */
  bucketSeconds: 900,
  bucketEndSeconds: 60,
  bucketStaySeconds: 900,
  /** Or a wallet's deposits near an end: their least number, and their least part of all of its deposits. */
  bucketDeposits: 6,
  bucketPercent: 75,
  /** Hundredths of a percent by which the price of a snapshot rose above the one before, and fell again before the next. */
  stagedBps: 50,
  ...weights,
}

export type AuditLimits = Readonly<typeof defaults>

export const weightOf = (limits: AuditLimits, code: FindingCode): number =>
  limits[`weight${code[0]?.toUpperCase()}${code.slice(1)}` as WeightName]

/** The thresholds of an audit: the defaults, and what a setting such as `look=10,loopBlocks=600` names. Pure. */
export function readAuditLimits(text: string | undefined, stagedBps: number = defaults.stagedBps): AuditLimits {
  const limits: Record<string, number> = { ...defaults, stagedBps }
  for (const item of (text ?? '').split(',')) {
    if (item.trim() === '') continue
    const [name = '', value = ''] = item.split('=').map((part) => part.trim())
    if (!Object.hasOwn(defaults, name))
      throw new ConfigError(`AUDIT_LIMITS names "${name}": the names are ${Object.keys(defaults).join(', ')}`)
    const number = Number(value)
    if (!/^[0-9]+(\.[0-9]+)?$/.test(value) || number > 1e9)
      throw new ConfigError(
        `AUDIT_LIMITS: ${name} must be a number from 0 to 1000000000, such as ${name}=${defaults[name as keyof typeof defaults]}`,
      )
    limits[name] = number
  }
  return limits as AuditLimits
}
