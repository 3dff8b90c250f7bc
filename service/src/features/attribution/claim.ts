import type { Attribution, Reading } from '../../chain/attribution/index.js'
import type { ActionRow } from '../actions/index.js'
import { formatAddress } from '../catalogue/index.js'
import type { TrackingMetadata } from './schema.js'

/** One code the calldata names, and what stands beside it. Plain values: it crosses a thread and is kept. */
export type Statement = {
  code: string
  /** `erc8021:<schema>:<code>`, or the legacy tag as it is written. */
  tag: string
  /** Why the signature does not count; empty exactly when it is valid. */
  error: string
  /** The action a suffix names; proven only where the signature is valid. */
  actionId: string | undefined
  said: TrackingMetadata
}

/** Who a transaction's calldata says brought it, and whether a key of ours vouches for it. */
export type Claim = Statement & { registered: boolean; signatureValid: boolean }

/** Codes of one transaction that are looked at; an honest one names a handful. */
const statementsMax = 1_000

/**
 * The codes that can name a distributor in the order they are to be tried, each once; where there is none, the first
 * code of all. Pure.
 */
export function listStatements(attribution: Attribution): Statement[] {
  const findings = attribution.groups.flatMap((group) => group.findings)
  const statements = new Map<string, Statement>()
  for (const finding of findings)
    for (const { code, error, reading } of finding.candidates) {
      if (statements.size >= statementsMax) return [...statements.values()]
      if (!statements.has(code)) statements.set(code, toStatement(code, error, reading))
    }
  if (statements.size > 0) return [...statements.values()]
  const reading = findings.flatMap(({ readings }) => readings).find(({ codes }) => codes.length > 0)
  const code = reading?.codes[0]
  return reading && code !== undefined ? [toStatement(code, reading.signature.error, reading)] : []
}

/** The first statement whose code is a registered distributor; else the first; undefined when there is none. Pure. */
export function findClaim(
  statements: readonly Statement[],
  isDistributor: (code: string) => boolean,
): Claim | undefined {
  const registered = statements.find(({ code }) => isDistributor(code))
  const chosen = registered ?? statements[0]
  return chosen && { ...chosen, registered: registered !== undefined, signatureValid: chosen.error === '' }
}

function toStatement(code: string, error: string, reading: Reading): Statement {
  const said: TrackingMetadata = {
    distributorId: code,
    referralCode: reading.referralCode ?? '',
    actionId: reading.actionId ?? '',
    action: '',
    opportunityId: '',
    tokenIn: '',
    amount: '',
    amountUsd: '',
    tokenInDecimals: 0,
  }
  if (reading.kind === 'erc8021')
    return { code, tag: `erc8021:${reading.suffix.schemaId}:${code}`, error, actionId: reading.actionId, said }
  const { suffix } = reading
  if (suffix.status === 'malformed') return { code, tag: '', error, actionId: undefined, said }
  return { code, tag: suffix.tag, error, actionId: undefined, said: { ...said, ...readTracker(suffix.metadata) } }
}

/**
 * What the payload says, `''` or 0 where it does not. Of a suffix that a key of ours signed, the action it names adds
 * what was asked for then.
 */
export function toMetadata({ said }: Claim, action: ActionRow | undefined): TrackingMetadata {
  if (!action) return said
  const { kind, opportunityId, tokenIn, amount, amountUsd, tokenInDecimals } = action
  return {
    ...said,
    action: kind,
    opportunityId: opportunityId ?? '',
    tokenIn: formatAddress(tokenIn),
    amount,
    amountUsd: amountUsd ?? '',
    tokenInDecimals,
  }
}

const textMembers = ['referralCode', 'actionId', 'action', 'opportunityId', 'tokenIn', 'amount', 'amountUsd'] as const

function readTracker(metadata: ReadonlyMap<string, unknown>): Partial<TrackingMetadata> {
  const texts = textMembers.flatMap((name) => {
    const value = metadata.get(name)
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : []
  })
  const decimals = Number(metadata.get('tokenInDecimals') ?? 0)
  return { ...Object.fromEntries(texts), tokenInDecimals: Number.isSafeInteger(decimals) ? decimals : 0 }
}
