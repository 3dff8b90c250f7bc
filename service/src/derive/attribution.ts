import type { Address } from 'viem'
import {
  type AttributionKind,
  attribute,
  type Candidate,
  calldataBytes,
  chooseDistributor,
  type Finding,
  type Recover,
  readFrames,
} from '../chain/attribution/index.js'
import type { RawTransaction } from '../chain/raw.js'
import { type DeriveConfig, isRegistered } from './config.js'
import type { VaultEvent } from './events.js'
import { matchEvents, type PlacedEvent } from './matching.js'

/** Who brought one event. `isSwap`: a router made the deposit on the caller's behalf. */
export type Credit = { distributorId: string; attribution: AttributionKind; isSwap: boolean }

/** What the calldata of a transaction says as a whole, for the debugger. */
export type Carried = {
  distributorId: string | null
  codes: string[]
  schema: string | null
  signatureValid: boolean | null
  /** The action of ours it names, where a key of ours signed that. */
  actionId: string | null
}

export type AttributedEvents = { credits: (Credit | null)[]; carried: Carried }

const nothing: Carried = { distributorId: null, codes: [], schema: null, signatureValid: null, actionId: null }

/**
 * Credits each event of a transaction to the distributor whose code stands in the frame it belongs to (`matching.ts`).
 * Inside a bundle an event belongs to the user operation whose UserOperationEvent follows it; `operationEnds` are those
 * log indexes in order.
 */
export function attributeEvents(input: {
  config: DeriveConfig
  timestamp: number
  transaction: RawTransaction
  events: readonly PlacedEvent[]
  operationEnds: readonly number[]
  recover?: Recover | undefined
}): AttributedEvents {
  const { config, timestamp, transaction, events, operationEnds } = input
  const credits: (Credit | null)[] = events.map(() => null)
  const read = {
    chainId: config.chainId,
    from: transaction.from as Address,
    to: transaction.to as Address | null,
    input: transaction.input as `0x${string}`,
    signers: [...config.signers].map((address) => ({ address: address as Address })),
    entryPoints: config.entryPoints as readonly Address[],
    ...(input.recover ? { recover: input.recover } : {}),
  }
  const { groups } = attribute(read)
  if (groups.length === 0) return { credits, carried: nothing }
  const choose = (finding: Finding) => chooseDistributor(finding, (code) => isRegistered(config, code, timestamp))
  const data = calldataBytes(read.input)
  const isNamed = (finding: Finding) => choose(finding) !== undefined
  const all = readFrames({ ...read, input: data }).groups
  for (const group of groups) {
    const isOperation = group.kind === 'userOperation'
    const frames = all.find((each) =>
      each.kind === 'userOperation' ? each.index === group.index : each.kind === group.kind,
    )?.frames
    const [after, before] = isOperation
      ? [operationEnds[group.index - 1] ?? -1, operationEnds[group.index] ?? -1]
      : [-1, Number.POSITIVE_INFINITY]
    const own = events.flatMap((placed, index) =>
      placed.event.logIndex > after && placed.event.logIndex < before ? [{ ...placed, index }] : [],
    )
    const calls = { frames: frames ?? [], findings: group.findings, data, isNamed }
    for (const { index, finding } of matchEvents(own, calls)) {
      const chosen = choose(finding)
      if (chosen) credits[index] = toCredit(chosen, finding, events[index]?.event)
    }
  }
  return {
    credits,
    carried: summarize(
      groups.flatMap(({ findings }) => findings),
      choose,
    ),
  }
}

function toCredit(chosen: Candidate, finding: Finding, event: VaultEvent | undefined): Credit {
  const isSwap = event?.kind === 'deposit' && event.sender !== finding.frame.caller
  return { distributorId: chosen.code, attribution: chosen.attribution, isSwap }
}

function summarize(findings: readonly Finding[], choose: (finding: Finding) => Candidate | undefined): Carried {
  const chosen = findings.map((finding) => ({ finding, candidate: choose(finding) })).find(({ candidate }) => candidate)
  const reading = chosen?.candidate?.reading ?? findings[0]?.candidates[0]?.reading ?? findings[0]?.readings[0]
  const codes = [...new Set(findings.flatMap((finding) => finding.codes))]
  if (!reading) return { ...nothing, codes }
  const schemaId = reading.kind === 'erc8021' && 'schemaId' in reading.suffix ? reading.suffix.schemaId : undefined
  return {
    distributorId: chosen?.candidate?.code ?? null,
    codes,
    schema: reading.kind === 'legacy' ? 'legacy' : schemaId === undefined ? null : `erc8021-${schemaId}`,
    signatureValid: reading.signature.present ? reading.signature.valid : null,
    actionId: reading.kind === 'erc8021' && reading.signature.valid ? (reading.actionId ?? null) : null,
  }
}
