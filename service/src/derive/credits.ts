import type { AttributionKind, Finding, Frame, Reading } from '@openearn/attribution'
import { isInside, needsTrace, readTails } from '@openearn/attribution'
import { isVaultAddress } from '../vaults/configured/index.js'
import { type DeriveConfig, isRegistered, isSignedOnly } from './config.js'
import { callerOf, concerns, hasSay, isAround, ownerOf, type PlacedEvent, partiesOf, speakerOf } from './matching.js'

/** The credit for one event. `isSwap`: its plan swapped, or a router made the deposit on the caller's behalf. */
export type Credit = { distributorId: string; attribution: AttributionKind; isSwap: boolean }

/** The most calls with their own codes that are compared if each may have made an event. */
const doubtsMax = 64

/** The problem of a signature that was made for this call and has counted before. */
export const signatureUsed = 'signature already used'

/** The problem of a suffix that rests on one node's word. */
export const oneNodesWord = "one node's word"

export type CreditContext = {
  config: DeriveConfig
  timestamp: number
  /** A call and the frames around it, outer before inner. */
  listAround: (call: Frame) => readonly Frame[]
  /** The innermost of these frames with a suffix, if any. */
  innermostCarrier: (call: Frame) => Frame | undefined
  findings: ReadonlyMap<Frame, Finding>
  /** Returns whether a signature counts for a call of this transaction: only for the first one in its vault. Records it. */
  useSignature: (vaultId: number, digest: string, call: Frame, keep?: 'keep') => boolean
  problems: Set<string>
}

/**
 * Credits the shares of each wallet that an event concerns. Of the call that made the event and the frames around it, frames of
 * that wallet come first, then those of other parties of the event. Among these a signature for the event comes first, then
 * the inner frame before the outer, then the outermost suffix. If several calls may have made the event and their codes differ,
 * nobody is credited.
 */
export function creditEvent(
  placed: PlacedEvent,
  makers: readonly Frame[],
  context: CreditContext,
): Map<string, Credit> {
  const credits = new Map<string, Credit>()
  // A signature counts for the call that is known to have made the event.
  const isKnown = makers.length === 1
  // Calls inside the same codes agree. If more than a few differ, the doubt cannot be settled.
  const telling = isKnown ? makers : listTelling(makers, context)
  if (telling.length > doubtsMax) {
    context.problems.add(needsTrace)
    return credits
  }
  const readings = telling.map((maker) => listReadings(placed, maker, isKnown, context))
  if (readings.every(({ length }) => length === 0)) return credits
  for (const wallet of placed.wallets) {
    const names = readings.map((each) => chooseCredit(placed, wallet, each, context))
    const [first] = names
    if (names.some((name) => name?.distributorId !== first?.distributorId)) context.problems.add(needsTrace)
    else if (first)
      credits.set(
        wallet,
        names.reduce<Credit>((a, b) => weaker(a, b ?? a), first),
      )
  }
  return credits
}

/** Whether a code is in a frame whose caller only calldata names. */
export function isUnprovenClaim({ frame, candidates }: Finding, placed: PlacedEvent): boolean {
  if (frame.proven || candidates.length === 0 || isAround(frame, placed)) return false
  return concerns(ownerOf(frame.caller, placed), placed)
}

/** One call for each frame with codes that is the innermost around some of the calls. */
function listTelling(makers: readonly Frame[], { innermostCarrier }: CreditContext): Frame[] {
  return [...new Map(makers.map((maker) => [innermostCarrier(maker), maker])).values()]
}

type Placed = { frame: Frame; reading: Reading; isSigned: boolean; isWord: boolean }

/**
 * The attributions in the frames of a call, in order of precedence: signed for the event before unsigned, bytes of the input
 * before bytes that a contract made up, inner frames before outer ones, and in a frame the outermost suffix first.
 */
function listReadings(placed: PlacedEvent, maker: Frame, isKnown: boolean, context: CreditContext): Placed[] {
  const around = context.listAround(maker)
  const carried = around
    .filter((frame) => context.findings.has(frame) && hasSay(frame, placed))
    .sort((a, b) => b.depth - a.depth)
    .flatMap((frame) =>
      (context.findings.get(frame)?.readings ?? []).map((reading) => {
        const isWord = reading.isWord && context.config.trustTraces !== true
        const call = { frame, reading, around, maker, isWord }
        return { frame, reading, isWord, isSigned: isKnown && isSignedFor(placed, call, context) }
      }),
    )
  const rank = ({ isSigned, reading }: Placed) => (isSigned ? 0 : 2) + (reading.isMadeUp ? 1 : 0)
  return carried.sort((a, b) => rank(a) - rank(b))
}

/**
 * Whether a key of ours signed the call that made the event, or one around it, inside the frame that carries the suffix,
 * with no other call to the vault in between, and the signature has not counted in this vault before.
 */
function isSignedFor(
  placed: PlacedEvent,
  call: { frame: Frame; reading: Reading; around: readonly Frame[]; maker: Frame; isWord: boolean },
  { useSignature, problems }: CreditContext,
): boolean {
  const { frame, reading, around, maker, isWord } = call
  const { vaultId, vault } = placed
  const { valid, provenBy, digest, wallet } = reading.signature
  if (!valid || !provenBy || digest === undefined) return false
  // A signature for a sender counts for the forwarder that calls in its name.
  if (wallet !== undefined && wallet !== provenBy.caller && wallet !== speakerOf(provenBy, placed)) return false
  const signed = around.find(
    (each) => (each === frame || isInside(each, frame)) && (each === provenBy || isSameCall(each, provenBy)),
  )
  if (!signed?.proven) return false
  // The call that made the event may lie inside a call that was signed for another contract.
  const isOfVault = isVaultAddress(vault, signed.target)
  const isPassedOn = around.some(
    (each) => isVaultAddress(vault, each.target) && isInside(each, signed) && (isOfVault || each !== maker),
  )
  if (isPassedOn) return false
  // One node's word uses no signature up.
  if (useSignature(vaultId, digest, signed, isWord ? 'keep' : undefined)) return true
  problems.add(signatureUsed)
  return false
}

function isSameCall(a: Frame, b: Frame): boolean {
  if (a.caller !== b.caller || a.target !== b.target) return false
  const bodyOf = (frame: Frame) =>
    Buffer.from(frame.data.subarray(frame.start, readTails(frame.data, frame, frame.floor).bodyEnd))
  return bodyOf(a).equals(bodyOf(b))
}

function chooseCredit(
  placed: PlacedEvent,
  wallet: string,
  readings: readonly Placed[],
  { config, timestamp, problems }: CreditContext,
): Credit | undefined {
  const parties = partiesOf(placed)
  const own = ownerOf(wallet, placed)
  const isOwn = ({ frame }: Placed) => callerOf(frame, placed) === own
  const others = readings.filter((each) => !isOwn(each) && parties.includes(callerOf(each.frame, placed)))
  for (const { frame, reading, isSigned, isWord } of [...readings.filter(isOwn), ...others]) {
    const application = applicationOf(reading)
    const codes = application === undefined ? reading.codes : [application, ...reading.codes]
    for (const code of codes) {
      if (!isRegistered(config, code, timestamp)) continue
      const weakest = reading.kind === 'legacy' ? 'legacy' : 'unsigned'
      const attribution = isSigned && code === application ? 'signed' : weakest
      // It is recorded, but unsigned attributions do not enter the ledger or lots of a signed-only distributor.
      if (attribution !== 'signed' && isSignedOnly(config, code, timestamp)) continue
      if (isWord) {
        problems.add(oneNodesWord)
        return undefined
      }
      const isSwap = saysSwap(reading) ?? callsAnother(frame, wallet, placed)
      return { distributorId: code, attribution, isSwap }
    }
  }
  return undefined
}

/** Whether a call goes to a contract that may swap: not the vault, a declared forwarder, the wallet, or its own caller. */
function callsAnother({ caller, target }: Frame, wallet: string, { vault, forwarders }: PlacedEvent): boolean {
  if (isVaultAddress(vault, target) || forwarders?.has(target)) return false
  // An account's batch for somebody else is no swap.
  return target !== wallet && target !== caller
}

/** Whether a suffix in the form this service writes says that its plan swaps; undefined of any other. */
function saysSwap({ kind, suffix, actionId }: Reading): boolean | undefined {
  if (kind !== 'erc8021' || actionId === undefined || !('metadata' in suffix)) return undefined
  return suffix.metadata?.get('s') === true
}

function applicationOf({ kind, suffix }: Reading): string | undefined {
  return kind === 'erc8021' && 'appCode' in suffix ? suffix.appCode : undefined
}

const strength: Readonly<Record<AttributionKind, number>> = { legacy: 0, unsigned: 1, signed: 2 }

/** The weaker of two credits of one distributor. */
export function weaker(a: Credit, b: Credit): Credit {
  const attribution = strength[a.attribution] <= strength[b.attribution] ? a.attribution : b.attribution
  return { distributorId: a.distributorId, attribution, isSwap: a.isSwap || b.isSwap }
}
