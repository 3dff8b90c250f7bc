import type { DeriveConfig } from '../../src/derive/config.js'
import { contains, type Digits } from './bytes.js'
import type { Identity } from './identity.js'
import { findHoldings } from './signing.js'
import { readTail, type Suffix } from './suffixes.js'
import type { Chain, Creditable, Frame, Ways } from './types.js'

export type Attribution = 'legacy' | 'unsigned' | 'signed'
export type Decision = { distributorId: string; attribution: Attribution; isSwap: boolean }
export type Deciding = {
  config: DeriveConfig
  timestamp: number
  transactionHash: string
  input: Digits
  /** The vault and its further contracts, the vault first. */
  vault: ReadonlySet<string>
  identity: Identity
  /** The first call of each signature in a vault, by digest: `${transaction}:${place}`. */
  used: Map<string, string>
  /** Whether a frame lies in the operation that an event was made in, where it was made in one. */
  isWithin: (frame: Frame, event: Creditable) => boolean
  trustTraces: boolean
}

/** Whether somebody, by the name it counts as, is a party of an event. */
export const isParty = (event: Creditable, person: string, { ownerOf }: Identity): boolean =>
  [event.sender, event.owner, ...('controller' in event ? [event.controller] : [])].some(
    (party) => ownerOf(party) === person,
  )

const registeredAt = (config: DeriveConfig, code: string, timestamp: number): boolean =>
  /^[A-Za-z0-9_-]{1,32}$/.test(code) && (config.distributors.get(code) ?? Infinity) <= timestamp
function wantsSignature(config: DeriveConfig, id: string, timestamp: number): boolean {
  let wants = false
  for (const { from, signedOnly } of config.signedOnly.get(id) ?? []) if (from <= timestamp) wants = signedOnly
  return wants
}

/** SEMANTICS §2, *isSwap*: the call goes neither to the vault, a forwarder or the wallet nor back to who made it. */
function isAnother(
  { target, caller }: Frame,
  vault: ReadonlySet<string>,
  wallet: string,
  { config, timestamp }: Deciding,
): boolean {
  const forwarders = (config.forwarders ?? []).filter(({ from }) => from <= timestamp).map(({ address }) => address)
  return ![...vault, wallet, caller, ...forwarders].includes(target)
}

const nameOf = ([first]: ReadonlySet<string>): string => first ?? ''

/** A suffix that rests on one node's word is no fact yet. */
const isWord = (frame: Frame, suffix: Suffix, { trustTraces, input }: Deciding): boolean =>
  frame.isWord && !trustTraces && !contains(input, suffix.bytes)

/** Uses up the signatures that hold for an event, once, in the vault's chain order: to be called for each event in turn. */
export function useSignatures(
  chain: Chain,
  event: Creditable,
  counts: (frame: Frame) => boolean,
  deciding: Deciding,
): void {
  for (const [index, frame] of chain.frames.entries()) {
    if (!counts(frame)) continue
    for (const suffix of readTail(frame.data).suffixes.filter((each) => !isWord(frame, each, deciding)))
      for (const { digest, place } of findHoldings(chain, index, suffix, event, deciding)) {
        const key = `${nameOf(deciding.vault)}:${digest}`
        if (!deciding.used.has(key)) deciding.used.set(key, `${deciding.transactionHash}:${place}`)
      }
  }
}

type Candidate = {
  frame: Frame
  suffix: Suffix
  distributorId: string
  signed: boolean
  /** Class, signed, standing, depth, place in the frame: what is smaller goes first. */
  rank: number[]
}

/** SEMANTICS §2, *Which frame counts*: whose shares of a wallet are, in one way an event may have been made. */
function decideOne(chain: Chain, event: Creditable, wallet: string, deciding: Deciding): Decision | undefined {
  const { config, timestamp, input, vault, identity } = deciding
  const candidates: Candidate[] = []
  for (const [depth, frame] of chain.frames.entries()) {
    if (!deciding.isWithin(frame, event)) continue
    const caller = identity.callerOf(frame, event)
    const rank = caller === identity.ownerOf(wallet) ? 0 : isParty(event, caller, identity) ? 1 : undefined
    if (rank === undefined) continue
    for (const [order, suffix] of readTail(frame.data).suffixes.entries()) {
      const distributorId = suffix.codes.find((code) => registeredAt(config, code, timestamp))
      if (distributorId === undefined) continue
      const holdings = findHoldings(chain, depth, suffix, event, deciding)
      // What rests on one node's word uses no signature up, and goes before what is not signed all the same.
      const signed = holdings.some(({ digest, place }) => {
        const first = deciding.used.get(`${nameOf(vault)}:${digest}`)
        return first === undefined ? isWord(frame, suffix, deciding) : first === `${deciding.transactionHash}:${place}`
      })
      const stands =
        contains(input, suffix.bytes) || frame.operations.some((callData) => contains(callData, suffix.bytes))
      candidates.push({
        frame,
        suffix,
        distributorId,
        signed,
        rank: [rank, signed ? 0 : 1, stands ? 0 : 1, depth, order],
      })
    }
  }
  candidates.sort((a, b) => compare(a.rank, b.rank))
  for (const { frame, suffix, distributorId, signed } of candidates) {
    if (!signed && wantsSignature(config, distributorId, timestamp)) continue
    // One node's word: its bytes stand nowhere in the transaction's input.
    if (isWord(frame, suffix, deciding)) return undefined
    const attribution = signed ? 'signed' : suffix.kind === 'legacy' ? 'legacy' : 'unsigned'
    const isSwap = suffix.ours ? suffix.ours.swaps : isAnother(frame, vault, wallet, deciding)
    return { distributorId, attribution, isSwap }
  }
  return undefined
}

const compare = (a: readonly number[], b: readonly number[]): number => {
  const at = a.findIndex((value, index) => value !== b[index])
  return at < 0 ? 0 : a[at]! - b[at]!
}

const weakest: Attribution[] = ['legacy', 'unsigned', 'signed']
export const weaker = (a: Attribution, b: Attribution): Attribution =>
  weakest[Math.min(weakest.indexOf(a), weakest.indexOf(b))]!

/** Where it cannot be told in which way an event was made, it is credited only if every way names the same. */
export function decide({ ways }: Ways, event: Creditable, wallet: string, deciding: Deciding): Decision | undefined {
  const [first, ...others] = ways.map((chain) => decideOne(chain, event, wallet, deciding))
  if (others.some((other) => other?.distributorId !== first?.distributorId)) return undefined
  if (first === undefined) return undefined
  const decision = { ...first }
  for (const other of others) {
    decision.attribution = weaker(decision.attribution, other!.attribution)
    decision.isSwap ||= other!.isSwap
  }
  return decision
}
