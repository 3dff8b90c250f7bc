import type { Address, Hex } from 'viem'
import { type Calldata, calldataBytes, formatHex, keccak256, lowerAddress } from './calldata.js'
import { isDistributorCode, isPlainText } from './codes.js'
import { marker } from './erc8021.js'
import { findExecuted, type OperationEvent } from './executed.js'
import { type Frame, type FrameGroup, isPlainBundle, readFrames, type TransactionFrames } from './frames.js'
import { legacyMarker } from './legacy.js'
import { type Recover, recoverAddress } from './recover.js'
import {
  type Budget,
  readActionId,
  readOwnMetadata,
  type SignatureVerdict,
  type SignedFrame,
  signatureErrors,
  verifyLegacy,
  verifySuffix,
} from './signature.js'
import { readTails, type Tail, tailCodes, tailSpan } from './tails.js'
import { type Execution, readTraced, type TracedCall, type TracedFrames } from './traced.js'

/** Where the codes were found: at the end of the transaction, in a user operation, or in a call inside a wrapper. */
export type Placement = 'transaction' | 'userOperation' | 'innerCall'

/** How far a code can be believed: signed by us for this very call, an ERC-8021 suffix anyone may write, or a tracker. */
export type AttributionKind = 'signed' | 'unsigned' | 'legacy'

/** One suffix or tracker with its verdict. */
export type Reading = Tail & {
  codes: string[]
  attribution: AttributionKind
  signature: SignatureVerdict
  /** The action it names: a uuid in what we write, any text in a tracker. Not proven unless `signed`. */
  actionId: string | undefined
  referralCode: string | undefined
  /** Of a trace: its bytes stand neither in the transaction's input nor in the operation's callData. */
  isMadeUp: boolean
  /** Of a trace: that it was there is one node's word. */
  isWord: boolean
  /** Our metadata says that the plan swaps before or after the call. */
  swaps: boolean
}

/** A code that can name a distributor, and where it stands. `attribution` is about this code. */
export type Candidate = { code: string; attribution: AttributionKind; error: string; reading: Reading }

/**
 * The attributions of one frame. The summary members describe the first candidate, or the outermost reading if no code can
 * name a distributor; `chooseDistributor` finds the candidate that counts.
 */
export type Finding = {
  placement: Placement
  frame: Frame
  /** Outermost first. */
  readings: Reading[]
  /** Every code, outermost suffix first. */
  codes: string[]
  /** Distributor codes in the order they are to be tried: schema 2 application codes, then the others. */
  candidates: Candidate[]
  attribution: AttributionKind
  /** Why the attribution is not signed; empty when it is, and for a tracker with a signature of ours. */
  error: string
  signer: Address | undefined
  actionId: string | undefined
  referralCode: string | undefined
}

/** The attributions in one sender's frames: the transaction's, or one user operation's (`index` in the order of the bundle). */
export type GroupFindings = {
  kind: FrameGroup['kind']
  index: number
  sender: Address
  findings: Finding[]
}

export type Attribution = {
  groups: GroupFindings[]
  /** All calls that were read, those that carry nothing too; findings name the same frames. */
  frames: FrameGroup[]
  /** Tails of the call that carries a bundle of user operations: the bundler's, which count for none of these. */
  bundler: Reading[]
  /** That call, where it is the transaction's own: it may count for what was made outside the operations. */
  bundle?: { frame: Frame; finding: Finding | undefined }
  /** Some calls were too many or too deep to be read. */
  truncated: boolean
  /** Where a trace with logs tells of it: the frame that emitted each log, by the log's index. */
  made?: ReadonlyMap<number, Frame | undefined>
}

export type AttributionInput = {
  chainId: number
  from: Address
  to: Address | null
  input: Calldata
  /** Addresses of our attribution keys, retired ones included. */
  signers: readonly { address: Address }[]
  /** ERC-4337 entry points we know. */
  entryPoints: readonly Address[]
  /** Events of EntryPoints about operations they ran; without them only a bundle sent to an EntryPoint itself is read. */
  operations?: readonly OperationEvent[]
  /** Where EntryPoints tell that they begin to run operations. */
  executions?: readonly Execution[]
  /** The call tree of the transaction; without it calldata decides. */
  paths?: { calls: readonly TracedCall[]; hasLogs: boolean } | undefined
  /** The transaction was mined before version 3 of the rules: a `handleOps` is no frame of its own. */
  leavesBundles?: boolean
  /** Frames are told of calldata that carries nothing, too. */
  listsAll?: boolean
  /** The addresses that the caller of a call may act for, in addition to itself; tried for signatures only. */
  standsFor?: (frame: Frame) => readonly Address[]
  /** A faster way to recover signers, if there is one. */
  recover?: Recover
}

const markerText = formatHex(marker).slice(2)
const legacyMarkerText = formatHex(legacyMarker).slice(2)

/** Whether calldata holds one of the markers anywhere: a cheap look that spares reading most transactions. */
export function mayCarryAttribution(input: Calldata): boolean {
  if (typeof input === 'string') {
    const text = input.toLowerCase()
    return text.includes(markerText) || text.includes(legacyMarkerText)
  }
  const view = Buffer.from(input.buffer, input.byteOffset, input.length)
  return view.indexOf(marker) >= 0 || view.indexOf(legacyMarker) >= 0
}

/**
 * Everything a transaction's calldata says about who brought it, per sender and frame, with what our signatures prove.
 * Only groups and frames that carry something are listed. A suffix that ends an inner call is that call's, also where it
 * ends the outer data as well. Deterministic, linear in the input, and never throws on any calldata.
 */
export function attribute(transaction: AttributionInput): Attribution {
  const { paths } = transaction
  const carries = mayCarryAttribution(transaction.input) || paths?.calls.some(({ input }) => mayCarry(input)) === true
  if (transaction.to === null || !(carries || paths || transaction.listsAll))
    return { groups: [], frames: [], bundler: [], truncated: false }
  const data = calldataBytes(transaction.input)
  const { groups, bundle, truncated, made } = paths
    ? readPaths(transaction, paths)
    : { ...readCalldata(transaction, data), made: undefined }
  const context: Context = {
    data,
    isTraced: paths !== undefined,
    chainId: transaction.chainId,
    signers: transaction.signers.map(({ address }) => lowerAddress(address)),
    recover: transaction.recover ?? recoverAddress,
    standsFor: transaction.standsFor,
  }

  const found: GroupFindings[] = []
  for (const group of carries ? groups : []) {
    const findings = readGroup(group, context, { checks: checksFor(groups.length) })
    if (findings.length === 0) continue
    const isOperation = group.kind === 'userOperation'
    const [index, sender] = isOperation ? [group.index, group.sender] : [0, lowerAddress(transaction.from)]
    found.push({ kind: group.kind, index, sender, findings })
  }
  const [ofBundle] = bundle
    ? readGroup({ kind: 'transaction', frames: [bundle] }, context, { checks: checksFor(groups.length) })
    : []
  const bundler = ofBundle?.readings ?? []
  const isKnown = made !== undefined && paths?.hasLogs === true
  const told = { groups: found, frames: groups, bundler, truncated, ...(isKnown ? { made } : {}) }
  return !bundle || transaction.leavesBundles ? told : { ...told, bundle: { frame: bundle, finding: ofBundle } }
}

/** Frames as calldata tells them. */
function readCalldata(transaction: AttributionInput & { to: Address | null }, data: Uint8Array): TransactionFrames {
  if (transaction.to === null) return { groups: [], bundle: undefined, truncated: false }
  const from = lowerAddress(transaction.from)
  const to = lowerAddress(transaction.to)
  const entryPoints = transaction.entryPoints.map(lowerAddress)
  const known = (transaction.operations ?? []).filter(({ entryPoint }) => entryPoints.some((one) => one === entryPoint))
  // A bundle's own operations are read in their order; one of them may run a bundle of another entry point.
  const sought = isPlainBundle(to, data, entryPoints) ? known.filter(({ entryPoint }) => entryPoint !== to) : known
  const executed = sought.length === 0 ? [] : findExecuted(data, sought, transaction.chainId)
  return readFrames({ from, to, input: data, entryPoints, executed })
}

function readPaths(transaction: AttributionInput, paths: NonNullable<AttributionInput['paths']>): TracedFrames {
  return readTraced({
    chainId: transaction.chainId,
    ...paths,
    entryPoints: transaction.entryPoints.map(lowerAddress),
    operations: transaction.operations ?? [],
    executions: transaction.executions ?? [],
    leavesBundles: transaction.leavesBundles === true,
    mayCarry: mayCarryAttribution,
  })
}

function mayCarry(input: string): boolean {
  return mayCarryAttribution(input as Hex)
}

/**
 * The candidate whose code is a registered distributor: application codes of schema 2 first, outermost suffix first.
 * Undefined when none is.
 */
export function chooseDistributor(
  finding: Pick<Finding, 'candidates'>,
  isDistributor: (code: string) => boolean,
): Candidate | undefined {
  return finding.candidates.find(({ code }) => isDistributor(code))
}

type Context = {
  data: Uint8Array
  isTraced: boolean
  chainId: number
  signers: readonly Address[]
  recover: Recover
  standsFor: AttributionInput['standsFor']
}

/**
 * Signature checks each sender has, so that no one's hostile calldata costs much time or another's checks: 128 for one
 * sender, 640 shared evenly by many, at least 4. An ordinary call needs one or two.
 */
function checksFor(senders: number): number {
  return Math.max(4, Math.min(128, Math.floor(640 / senders)))
}

function readGroup(group: FrameGroup, context: Context, budget: Budget): Finding[] {
  const frames = group.frames.map((frame) => {
    const { tails, bodyEnd } = readTails(frame.data, frame, frame.floor)
    let hash: Uint8Array | undefined
    const callHash = () => {
      hash ??= keccak256(frame.data.subarray(frame.start, bodyEnd))
      return hash
    }
    return { frame, tails, callHash, wallets: context.standsFor?.(frame) ?? [] }
  })
  const carrying = frames.flatMap((each, at) => {
    const { frame, tails } = each
    // Each suffix is first tried on the call that carries it, before any is tried elsewhere.
    const verdicts = tails.map((tail) => verify(tail, [each], context, budget))
    return tails.length > 0 ? [{ frame, at, tails, verdicts }] : []
  })
  return carrying.map(({ frame, at, tails, verdicts }) => {
    const readings = tails.map((tail, i) => {
      const own = verdicts[i] ?? verify(tail, [], context, budget)
      const origin = originOf(tail, frame, group, context)
      if (own.error !== signatureErrors.mismatch || frames.length === 1) return readReading(tail, own, origin)
      // A wallet that gathers calls may have moved the suffix outwards, so the calls inside are tried, and only these.
      const next = frames.findIndex((other, index) => index > at && other.frame.depth <= frame.depth)
      const inside = frames.slice(at + 1, next < 0 ? undefined : next)
      return readReading(tail, inside.length === 0 ? own : verify(tail, inside, context, budget), origin)
    })
    const outermost: Placement = group.kind === 'userOperation' ? 'userOperation' : 'transaction'
    const placement = outermost === 'transaction' && frame.depth > 0 ? 'innerCall' : outermost
    return summarize(placement, frame, readings)
  })
}

function verify(tail: Tail, frames: readonly SignedFrame[], context: Context, budget: Budget): SignatureVerdict {
  return tail.kind === 'legacy'
    ? verifyLegacy({ tracker: tail.suffix, ...context, budget })
    : verifySuffix({ suffix: tail.suffix, frames, ...context, budget })
}

type Origin = Pick<Reading, 'isMadeUp' | 'isWord'>

/** Where the bytes of a suffix come from; calldata that was read stands in the transaction's input. */
function originOf(tail: Tail, frame: Frame, group: FrameGroup, { data, isTraced }: Context): Origin {
  if (!isTraced) return { isMadeUp: false, isWord: false }
  const { start, end } = tailSpan(tail)
  const bytes = frame.data.subarray(start, end)
  const holds = (whole: Uint8Array) =>
    Buffer.from(whole.buffer, whole.byteOffset, whole.length).includes(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
    )
  if (holds(data)) return { isMadeUp: false, isWord: false }
  const operation = group.kind === 'userOperation' ? group.frames[0] : undefined
  const isInOperation = operation !== undefined && holds(operation.data.subarray(operation.start, operation.end))
  return { isMadeUp: !isInOperation, isWord: frame.isWord === true }
}

function readReading(tail: Tail, signature: SignatureVerdict, origin: Origin): Reading {
  const codes = tailCodes(tail)
  if (tail.kind === 'erc8021') {
    const attribution = signature.valid ? 'signed' : 'unsigned'
    const { referralCode, swaps = false } = readOwnMetadata(tail.suffix)
    const actionId = readActionId(tail.suffix)
    return { ...tail, ...origin, codes, attribution, signature, actionId, referralCode, swaps }
  }
  const tracker = tail.suffix.status === 'malformed' ? undefined : tail.suffix
  const actionId = tracker?.metadata.get('actionId')
  return {
    ...tail,
    ...origin,
    codes,
    attribution: 'legacy',
    signature,
    actionId: typeof actionId === 'string' && isPlainText(actionId) ? actionId : undefined,
    referralCode: tracker?.referralCode,
    swaps: false,
  }
}

function summarize(placement: Placement, frame: Frame, readings: Reading[]): Finding {
  const candidates = listCandidates(readings)
  const [first] = candidates
  const reading = first?.reading ?? readings[0]
  return {
    placement,
    frame,
    readings,
    codes: readings.flatMap(({ codes }) => codes),
    candidates,
    attribution: first?.attribution ?? reading?.attribution ?? 'unsigned',
    error: first?.error ?? reading?.signature.error ?? signatureErrors.absent,
    signer: reading?.signature.signer,
    actionId: reading?.actionId,
    referralCode: reading?.referralCode,
  }
}

function listCandidates(readings: readonly Reading[]): Candidate[] {
  const applications = readings.flatMap((reading) => {
    const code = applicationCode(reading)
    return code === undefined ? [] : [toCandidate(code, reading)]
  })
  const others = readings.flatMap((reading) => reading.codes.map((code) => toCandidate(code, reading)))
  const candidates = new Map<string, Candidate>()
  for (const candidate of [...applications, ...others]) {
    const known = candidates.get(candidate.code)
    // A code that stands there twice keeps its place, and counts as signed if either is.
    if (known && (known.attribution === 'signed' || candidate.attribution !== 'signed')) continue
    if (isDistributorCode(candidate.code)) candidates.set(candidate.code, candidate)
  }
  return [...candidates.values()]
}

/** A candidate for one code: a signature covers only the application's code. */
function toCandidate(code: string, reading: Reading): Candidate {
  const isCovered = reading.attribution !== 'signed' || code === applicationCode(reading)
  if (isCovered) return { code, attribution: reading.attribution, error: reading.signature.error, reading }
  return { code, attribution: 'unsigned', error: signatureErrors.otherCode, reading }
}

function applicationCode({ kind, suffix }: Reading): string | undefined {
  return kind === 'erc8021' && 'appCode' in suffix ? suffix.appCode : undefined
}
