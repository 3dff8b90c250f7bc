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
  /** How long money stays at most that only passes: once, and again and again in a month; how often that is. */
  inAndOutSeconds: 600,
  passSeconds: 3_600,
  passTimes: 4,
  /** How long money is out at most that moves between vaults of one wallet; by how much its worth may differ. */
  moveSeconds: 1_800,
  moveBps: 100,
  /** Time between a withdrawal and another wallet's deposit of the same worth; by how much worths may differ. */
  loopSeconds: 14_400,
  loopBps: 500,
  /** Time between the parts that a wallet takes out or puts in. */
  loopPartSeconds: 900,
  /** Deposits of the same worth among which nobody can tell whose they are. */
  loopChoices: 2,
  /**
   * Wallets from which a crowd of one sender counts; within what time most of it comes; how many of a hundred at most do something for
   * themselves; and up to how many times as much the tenth with the most gets as that with the least.
   */
  senderWallets: 10,
  senderSeconds: 1_400_000,
  senderFreePercent: 8,
  senderUnlikeTimes: 25,
  /** Time between two deposits of a batch that one sender pays for; part of it whose worths lie so near their median. */
  senderBatchSeconds: 600,
  senderAlikePercent: 60,
  senderAlikeBps: 500,
  /** US dollars that a wallet holds at least once in the month, or it is dust; the vault's `lpFloor` where that is more. */
  floorUsd: 1,
  /** Or less than this, where at least a number of wallets are, and many more than hold up to ten times as much. */
  smallUsd: 20,
  smallWallets: 25,
  /** How long money stays at most that is there for the end of a bucket; digits of the chance that it was not by chance. */
  bucketStaySeconds: 10_800,
  bucketChance: 5,
  /**
   * Hundredths of a percent by which the prices of snapshots rose and fell again; how long before money comes for them, and leaves after
   * them; how long money stays at most that came during them.
   */
  stagedBps: 50,
  stagedSeconds: 14_400,
  stagedStaySeconds: 864_000,
  ...weights,
}

/** Names of former versions: some counted blocks, which are of any length. */
const former: Record<string, string> = {
  inAndOutBlocks: 'inAndOutSeconds',
  loopBlocks: 'loopSeconds',
  senderBlocks: 'senderBatchSeconds',
  bucketSeconds: 'bucketChance',
  bucketEndSeconds: 'bucketChance',
  bucketDeposits: 'bucketChance',
  bucketPercent: 'bucketChance',
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
    if (Object.hasOwn(former, name))
      throw new ConfigError(
        `AUDIT_LIMITS names "${name}", which is not known any more: see ${former[name]} in docs/audit.md`,
      )
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
