import type { Address } from 'viem'
import {
  type AttributionKind,
  attribute,
  type Candidate,
  calldataBytes,
  chooseDistributor,
  type Finding,
  type Frame,
  type Recover,
  readFrames,
} from '../chain/attribution/index.js'
import type { RawTransaction } from '../chain/raw.js'
import { type DeriveConfig, isRegistered } from './config.js'
import { eventParties, type VaultEvent } from './events.js'

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

/** An event of a vault, and the wallets that end the transaction with more of its shares. */
export type PlacedEvent = { vault: string; event: VaultEvent; gainers: ReadonlySet<string> }

export type AttributedEvents = { credits: (Credit | null)[]; carried: Carried }

const nothing: Carried = { distributorId: null, codes: [], schema: null, signatureValid: null, actionId: null }

/**
 * Credits each event of a transaction to the distributor whose code stands in the frame it belongs to.
 *
 * An event counts for a frame only if the frame's caller is one of the event's parties or ends the transaction with the
 * minted shares. A call to the vault itself is matched with that vault's events in order; its own code counts, else that
 * of the nearest frame around it. Events no such call explains (a router, a contract we do not unwrap) go to the frames
 * that carry a code and may claim them: the nth to the nth, or all to the only one. Inside a bundle an event belongs to
 * the user operation whose UserOperationEvent follows it; `operationEnds` are those log indexes in order.
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
  const all = readFrames({ ...read, from: read.from, to: read.to, input: calldataBytes(read.input) }).groups
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
    const input = calldataBytes(read.input)
    for (const { index, finding } of matchEvents(own, frames ?? [], group.findings, input)) {
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

type OwnEvent = PlacedEvent & { index: number }

/** Selectors of calls that make a vault emit one of its events: ERC-4626, ERC-7540, ERC-7887. */
const vaultSelectors = new Set([
  '6e553f65', // deposit(uint256,address)
  '94bf804d', // mint(uint256,address)
  'b460af94', // withdraw(uint256,address,address)
  'ba087652', // redeem(uint256,address,address)
  '2e2d2984', // deposit(uint256,address,address)
  'da39b3e7', // mint(uint256,address,address)
  '85b77f45', // requestDeposit(uint256,address,address)
  '7d41c86e', // requestRedeem(uint256,address,address)
])

function matchEvents(
  events: readonly OwnEvent[],
  frames: readonly Frame[],
  findings: readonly Finding[],
  input: Uint8Array,
): { index: number; finding: Finding }[] {
  const findingOf = (frame: Frame) =>
    findings.find((each) => each.frame.start === frame.start && each.frame.depth === frame.depth)
  const isVaultCall = (frame: Frame) =>
    vaultSelectors.has(Buffer.from(input.subarray(frame.start, frame.start + 4)).toString('hex')) ||
    findingOf(frame) !== undefined
  const calls = frames.filter((frame) => frame.floor === frame.start && isVaultCall(frame))
  const used = new Set<Frame>()
  const matched: { index: number; finding: Finding }[] = []
  const loose: OwnEvent[] = []
  for (const event of events) {
    const call = calls.find((frame) => !used.has(frame) && frame.target === event.vault && mayClaim(frame, event))
    if (!call) {
      loose.push(event)
      continue
    }
    used.add(call)
    const around = frames.filter((frame) => covers(frame, call) && mayClaim(frame, event)).reverse()
    const finding = around.map(findingOf).find((each) => each !== undefined)
    if (finding) matched.push({ index: event.index, finding })
  }
  return [...matched, ...matchLoose(loose, findings, used)]
}

function matchLoose(
  events: readonly OwnEvent[],
  findings: readonly Finding[],
  used: ReadonlySet<Frame>,
): { index: number; finding: Finding }[] {
  const free = findings.filter(({ frame }) => ![...used].some((call) => isSame(call, frame)))
  const taken = new Map<Finding, number>()
  return events.flatMap((event) => {
    const claimants = free.filter(({ frame }) => mayClaim(frame, event))
    const finding = claimants.length === 1 ? claimants[0] : claimants.find((each) => !taken.has(each))
    if (!finding) return []
    taken.set(finding, (taken.get(finding) ?? 0) + 1)
    return [{ index: event.index, finding }]
  })
}

function mayClaim(frame: Frame, { event, gainers }: PlacedEvent): boolean {
  return eventParties(event).includes(frame.caller) || (event.kind === 'deposit' && gainers.has(frame.caller))
}

/** Whether a call lies inside a frame, or is it. */
function covers(frame: Frame, call: Frame): boolean {
  return isSame(frame, call) || (frame.depth < call.depth && frame.start <= call.start && call.end <= frame.end)
}

function isSame(a: Frame, b: Frame): boolean {
  return a.start === b.start && a.end === b.end && a.depth === b.depth
}
