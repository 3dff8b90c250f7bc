import { type Attribution, type Candidate, chooseDistributor, type Reading } from '../../chain/attribution/index.js'
import type { ActionRow } from '../actions/index.js'
import { formatAddress } from '../catalogue/index.js'
import type { TrackingMetadata } from './schema.js'

/** Who a transaction's calldata says brought it, and whether a key of ours vouches for it. */
export type Claim = {
  code: string
  registered: boolean
  reading: Reading
  signatureValid: boolean
  /** Why the signature does not count; empty exactly when it is valid. */
  error: string
}

/** The first code of a registered distributor; else the first code at all; undefined when there is none. Pure. */
export function findClaim(attribution: Attribution, isDistributor: (code: string) => boolean): Claim | undefined {
  const findings = attribution.groups.flatMap((group) => group.findings)
  for (const finding of findings) {
    const candidate = chooseDistributor(finding, isDistributor)
    if (candidate) return toClaim(candidate, true)
  }
  const [candidate] = findings.flatMap((finding) => finding.candidates)
  if (candidate) return toClaim(candidate, false)
  const reading = findings.flatMap((finding) => finding.readings).find(({ codes }) => codes.length > 0)
  const code = reading?.codes[0]
  if (!reading || code === undefined) return undefined
  const { valid, error } = reading.signature
  return { code, registered: false, reading, signatureValid: valid, error }
}

function toClaim({ code, error, reading }: Candidate, registered: boolean): Claim {
  return { code, registered, reading, signatureValid: error === '', error }
}

/** `erc8021:<schema>:<code>`, or the legacy tag as it is written. */
export function formatTag({ code, reading }: Claim): string {
  if (reading.kind === 'erc8021') return `erc8021:${reading.suffix.schemaId}:${code}`
  return reading.suffix.status === 'malformed' ? '' : reading.suffix.tag
}

/**
 * What the payload says, `''` or 0 where it does not. Of a suffix that a key of ours signed, the action it names adds
 * what was asked for then.
 */
export function toMetadata({ code, reading }: Claim, action: ActionRow | undefined): TrackingMetadata {
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
  if (reading.kind === 'legacy' && reading.suffix.status !== 'malformed')
    return { ...said, ...readTracker(reading.suffix.metadata) }
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
