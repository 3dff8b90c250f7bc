import type { Attribution, Finding, Reading } from '@openearn/attribution'
import type { TrackingMetadata } from './schema.js'

/** One code in the calldata, with the other members of its suffix. Plain values: it is passed between threads and cached. */
export type Statement = {
  code: string
  /** `erc8021:<schema>:<code>`, or the legacy tag as it is written. */
  tag: string
  /** Whether the call it stands behind was made by its caller, as far as calldata can say. */
  proven: boolean
  /** Why the signature does not count; empty exactly when it is valid. */
  error: string
  /** The action a suffix names; proven only where the signature is valid. */
  actionId: string | undefined
  said: TrackingMetadata
}

/** Codes of one transaction that are looked at; an honest one names a handful. */
const statementsMax = 1_000

/**
 * The codes that can name a distributor, in the order of precedence, each once; codes in calls that only calldata claims come
 * last. If no code can name a distributor, the first code of all. Pure.
 */
export function listStatements(attribution: Attribution): Statement[] {
  const all = attribution.groups.flatMap((group) => group.findings)
  const findings = [...all.filter(({ frame }) => frame.proven), ...all.filter(({ frame }) => !frame.proven)]
  const statements = new Map<string, Statement>()
  for (const finding of findings)
    for (const { code, error, reading } of finding.candidates) {
      if (statements.size >= statementsMax) return [...statements.values()]
      if (!statements.has(code)) statements.set(code, toStatement(code, error, reading, finding))
    }
  if (statements.size > 0) return [...statements.values()]
  for (const finding of findings)
    for (const reading of finding.readings) {
      const [code] = reading.codes
      if (code !== undefined) return [toStatement(code, reading.signature.error, reading, finding)]
    }
  return []
}

function toStatement(code: string, error: string, reading: Reading, { frame }: Finding): Statement {
  const { proven } = frame
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
    return { code, tag: `erc8021:${reading.suffix.schemaId}:${code}`, proven, error, actionId: reading.actionId, said }
  const { suffix } = reading
  if (suffix.status === 'malformed') return { code, tag: '', proven, error, actionId: undefined, said }
  return {
    code,
    tag: suffix.tag,
    proven,
    error,
    actionId: undefined,
    said: { ...said, ...readTracker(suffix.metadata) },
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
