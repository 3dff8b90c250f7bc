import { type Attribution, needsTrace } from '@openearn/attribution'
import { oneNodesWord, signatureUsed } from '../../derive/index.js'
import type { VaultEvent } from '../../vaults/index.js'
import type { Claim } from './claim.js'

/** An event of a catalogue vault. `isClaim`: of a side that completes by claiming a request. */
export type ToldEvent = {
  logIndex: number
  vault: string
  kind: VaultEvent['kind']
  isClaim: boolean
  isOtherToken: boolean
}

/** The facts about one transaction, for the explanation. Instants in UTC. */
export type ExplanationFacts = {
  chainName: string
  found: boolean
  /** Undefined while it waits to be mined. */
  mined: { success: boolean; blockNumber: number } | undefined
  /** Names of the events of catalogue vaults in it. */
  vaultEvents: readonly string[]
  events: readonly ToldEvent[]
  attribution: Attribution | undefined
  claim: Claim | undefined
  /** The distributor the claim names; undefined when none is registered under the code. */
  distributor: { id: string; activeFrom: Date; signedOnly: boolean } | undefined
  blockAt: Date | undefined
  /** Its entries in the ledger, verified ones only. */
  entries: readonly { logIndex: number; interaction: string; distributorId: string; attribution: string }[]
  watched: readonly { distributorId: string | null; problems: readonly string[]; retracted: boolean }[]
  confirmations: number
  headNumber: number | undefined
}

export type Explanation = { attributed: boolean; lines: string[] }

/** An event with its entries, or the rule that left it out. */
export type ExplainedEvent = Omit<ToldEvent, 'isClaim' | 'isOtherToken'> & {
  creditedTo: string[]
  reason: string | null
}

/** Who each vault event of a transaction is credited to, or which rule left it out. Pure. */
export function explainEvents(facts: ExplanationFacts): ExplainedEvent[] {
  return facts.events.map((event) => {
    const own = facts.entries.filter(({ logIndex }) => logIndex === event.logIndex)
    const { logIndex, vault, kind } = event
    const creditedTo = [...new Set(own.map(({ distributorId }) => distributorId))]
    return { logIndex, vault, kind, creditedTo, reason: own.length > 0 ? null : findRule(facts, event) }
  })
}

/** The rule that left an event out: one of its kind, else the one that left out all that its transaction's code did not bring. */
function findRule(facts: ExplanationFacts, { kind, isClaim, isOtherToken }: ToldEvent): string {
  if (kind === 'depositRequest' || kind === 'redeemRequest')
    return 'a request has no entry: its claim has one, of the code that the request carries'
  if (kind !== 'deposit' && kind !== 'withdraw') return 'a cancellation has no entry'
  if (isOtherToken) return "it is paid in another token than the vault's asset, so no amount of it fits the ledger"
  if (isClaim && kind === 'withdraw')
    return 'it claims a redemption: the entry is of the code that the request carries, and that one was not credited'
  if (facts.entries.length > 0 && !hasProblem(facts, needsTrace)) return notByTheCode
  const [last = ''] = explainAttribution({ ...facts, entries: [] }).lines.slice(-1)
  const rule = last.replace(/^no: /, '')
  return isClaim ? `it claims a request that carried no code that counts, and the claim: ${rule}` : rule
}

const notByTheCode =
  'the call that carries the code did not make this event, or its caller is neither sender nor owner and keeps none of its shares, or nobody keeps shares'

/** Why a transaction was, or was not, credited to a distributor: one line a step, the last one says what to do. Pure. */
export function explainAttribution(facts: ExplanationFacts): Explanation {
  const lines: string[] = []
  const stop = (line: string): Explanation => ({ attributed: false, lines: [...lines, line] })
  const { mined, claim, distributor, entries } = facts
  if (!facts.found) return stop(`no: ${facts.chainName} does not know this transaction; check the hash and the chain`)
  if (!mined) return stop('no: the transaction is not mined yet; look again once it is')
  if (!mined.success) return stop('no: the transaction reverted, so nothing was deposited or withdrawn')
  lines.push(`ok: mined in block ${mined.blockNumber} of ${facts.chainName}`)
  if (facts.vaultEvents.length === 0)
    lines.push('no: it holds no deposit, withdrawal or request of a vault in the catalogue')
  else lines.push(`ok: vault events: ${facts.vaultEvents.join(', ')}`)

  const [entry] = entries
  if (entry) {
    lines.push(...entries.map((one) => `ok: ${one.interaction} credited to ${one.distributorId} (${one.attribution})`))
    if (hasProblem(facts, signatureUsed)) lines.push('note: a signature in it has counted before, and counts once')
    return { attributed: true, lines }
  }
  if (hasProblem(facts, oneNodesWord))
    return stop(
      'no: only one node says that the code was there; give the chain a second url that can trace, or set trustTraces',
    )
  if (!claim) return stop(`no: ${describeSilence(facts.attribution)}`)
  lines.push(`ok: the calldata carries the code ${claim.code}`)
  if (!claim.proven)
    return stop(
      'no: that its caller made the call with the code is only said by calldata; a trace would have to show it',
    )
  if (!distributor) return stop(`no: ${claim.code} is not a registered distributor; register it or correct the code`)
  if (facts.blockAt && distributor.activeFrom > facts.blockAt)
    return stop(`no: ${distributor.id} counts from ${distributor.activeFrom.toISOString()} on, the block is older`)
  if (distributor.signedOnly && hasProblem(facts, signatureUsed))
    return stop(`no: ${distributor.id} counts signed attributions only, and this signature has counted before`)
  if (!claim.signatureValid && distributor.signedOnly)
    return stop(`no: ${distributor.id} counts signed attributions only, and here: ${claim.error}`)
  lines.push(claim.signatureValid ? 'ok: signed by a key of ours' : `note: not signed by us (${claim.error})`)
  if (facts.vaultEvents.length === 0) return stop('no: without an event of a known vault there is nothing to credit')
  return stop(`no: ${describeWaiting(facts, mined.blockNumber)}`)
}

function describeSilence(attribution: Attribution | undefined): string {
  const readings = attribution?.groups.flatMap((group) => group.findings.flatMap((finding) => finding.readings)) ?? []
  if (readings.length > 0) return 'the suffix at the end of the calldata names no code; the debugger shows the error'
  if (attribution && attribution.bundler.length > 0)
    return "the only suffix is the bundler's; the wallet has to put it at the end of userOp.callData"
  if (attribution?.truncated) return 'the call has too many inner calls to be read; send the deposit by itself'
  return 'the calldata ends in no suffix; the wallet dropped it, or the call was not built by this service'
}

function describeWaiting(facts: ExplanationFacts, blockNumber: number): string {
  if (facts.watched.some(({ retracted }) => retracted) && facts.watched.every(({ retracted }) => retracted))
    return 'a reorganisation took the block back; it counts once the transaction is mined again'
  if (facts.watched.length === 0) return 'the watcher has not read this block yet, or the vault was added after it'
  if (facts.headNumber !== undefined && facts.headNumber - blockNumber + 1 < facts.confirmations)
    return `it is ${facts.headNumber - blockNumber + 1} blocks deep and counts from ${facts.confirmations} on`
  if (hasProblem(facts, needsTrace))
    return 'which of several calls made the event cannot be told from calldata; a trace would have to show it'
  if (facts.watched.every(({ distributorId }) => distributorId === null))
    return 'the code was not registered when the block was derived; an earlier active-from date re-derives it'
  return 'no event belongs to the call that carries the code: its caller is neither sender nor owner and keeps no shares; or it carries a bundle, in whose operations it has no say; or nobody keeps shares; or the deposit is a request that is not claimed yet'
}

function hasProblem({ watched }: ExplanationFacts, problem: string): boolean {
  return watched.some(({ retracted, problems }) => !retracted && problems.includes(problem))
}
