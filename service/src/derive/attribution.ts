import {
  type Attribution,
  attribute,
  chooseDistributor,
  decodeOperationEvent,
  type Finding,
  type Frame,
  isInside,
  needsTrace,
  operationTopics,
  type Recover,
} from '@openearn/attribution'
import type { Address, Hex } from 'viem'
import type { CallPaths, Evidence } from '../rpc/callPaths.js'
import type { RawLog, RawTransaction } from '../rpc/raw.js'
import { areOperationsApart, type DeriveConfig, isRegistered, isSignedOnly, listForwarders } from './config.js'
import { type Credit, type CreditContext, creditEvent, isUnprovenClaim, oneNodesWord } from './credits.js'
import type { VaultEvent } from './events.js'
import { findMakers, mayHaveMade, ownerOf, type PlacedEvent, type Scope, speakerOf } from './matching.js'
import { readSettlements } from './settlements.js'

/** A summary of the calldata of a transaction, for the debugger. */
export type CalldataSummary = {
  distributorId: string | null
  codes: string[]
  schema: string | null
  signatureValid: boolean | null
  /** The action it names, if a key of ours signed it. */
  actionId: string | null
  /** Reasons why parts of it do not count. */
  problems: string[]
}

/** The credit for the shares of each wallet that an event concerns. */
export type Credits = ReadonlyMap<VaultEvent, ReadonlyMap<string, Credit>>

/** A signature of ours that counted in a vault for the first time. */
export type UsedSignature = { vaultId: number; digest: string }

/** Wallets whose shares of an event are not credited: they have code and made no call around it. */
export type Strangers = ReadonlyMap<VaultEvent, ReadonlySet<string>>

export type AttributedEvents = {
  credits: Credits
  strangers: Strangers
  summary: CalldataSummary
  used: UsedSignature[]
}

const nothing: CalldataSummary = {
  distributorId: null,
  codes: [],
  schema: null,
  signatureValid: null,
  actionId: null,
  problems: [],
}

/** Reads the attribution in the calldata of a transaction, with its logs of known entry points; `logs` may hold others too. */
export function readAttribution(input: {
  config: DeriveConfig
  timestamp: number
  transaction: RawTransaction
  logs: readonly RawLog[]
  recover: Recover | undefined
  /** The addresses that the caller of a call may act for, in addition to itself. */
  standsFor?: (frame: Frame) => readonly string[]
}): Attribution {
  const { config, timestamp, transaction, logs, recover, standsFor } = input
  return attribute({
    leavesBundles: !areOperationsApart(config, timestamp),
    chainId: config.chainId,
    from: transaction.from as Address,
    to: transaction.to as Address | null,
    input: transaction.input as Hex,
    signers: [...config.signers].map((address) => ({ address: address as Address })),
    entryPoints: config.entryPoints as readonly Address[],
    operations: logs.flatMap((log) => decodeOperationEvent(log) ?? []),
    executions: logs.flatMap(({ address, topics, logIndex }) =>
      topics[0] === operationTopics.execution ? [{ entryPoint: address, logIndex }] : [],
    ),
    paths: isTraced(transaction.evidence) ? transaction.evidence : undefined,
    // The callers around an event matter if a wallet is a contract.
    listsAll: (transaction.contracts ?? []).length > 0,
    ...(recover ? { recover } : {}),
    ...(standsFor ? { standsFor: (frame) => standsFor(frame) as readonly Address[] } : {}),
  })
}

/** The digests of all signatures of ours a transaction carries. */
export function listDigests({ groups, bundler }: Attribution): string[] {
  const findings = groups.flatMap((group) => group.findings)
  return [...findings.flatMap(({ readings }) => readings), ...bundler].flatMap(
    ({ signature }) => signature.digest ?? [],
  )
}

/**
 * Credits each event of a transaction to the distributors with codes in the frames of the event (`matching.ts`,
 * `credits.ts`). Inside a bundle an event belongs to the user operation whose UserOperationEvent comes next.
 */
export function attributeEvents(input: {
  config: DeriveConfig
  timestamp: number
  transaction: RawTransaction
  logs: readonly RawLog[]
  events: readonly PlacedEvent[]
  attribution: Attribution
  /** Whether a signature has counted in a vault in an earlier transaction. */
  isUsed: (vaultId: number, digest: string) => boolean
  /** The owner of a sub-account. */
  ownerOf: (address: string) => string | undefined
}): AttributedEvents {
  const { config, timestamp, transaction, attribution } = input
  const credits = new Map<VaultEvent, ReadonlyMap<string, Credit>>()
  const strangers = new Map<VaultEvent, ReadonlySet<string>>()
  const contracts = new Set(transaction.contracts)
  const ofBundler = attribution.bundle?.finding
  if (attribution.groups.length === 0 && !ofBundler && contracts.size === 0)
    return { credits, strangers, summary: nothing, used: [] }
  const all = attribution.groups.flatMap(({ findings }) => findings)
  const findings = new Map([...all, ...(ofBundler ? [ofBundler] : [])].map((finding) => [finding.frame, finding]))
  const operations = listOperations(input)
  const scopes = listScopes(input, operations)
  const uses = createUses(input.isUsed)
  const problems = new Set<string>()
  const forwarders = listForwarders(config, timestamp)
  const settled = readSettlements(all, input.logs, config)
  const apart = areOperationsApart(config, timestamp) ? operations : []
  const events =
    forwarders.size + settled.size + apart.length === 0
      ? input.events
      : input.events.map((placed) => {
          const operation = findOperation(apart, placed.event.logIndex)
          return { ...placed, forwarders, settled, ...(operation ? { operation } : {}), ownerOf: input.ownerOf }
        })
  const { made } = attribution
  const makers = made ? events.map(({ event }) => listDefined(made.get(event.logIndex))) : findMakers(events, scopes)
  const surroundings = createSurroundings(scopes, findings)
  const mayCount = ({ candidates }: Finding) =>
    candidates.some(
      ({ code, attribution: how }) =>
        isRegistered(config, code, timestamp) && (how === 'signed' || !isSignedOnly(config, code, timestamp)),
    )
  events.forEach((each, index) => {
    const around = surroundings.of(each.event.logIndex)
    const out = listStrangers(each, makers[index] ?? [], contracts, around)
    if (out.size > 0) strangers.set(each.event, out)
    const placed = out.size === 0 ? each : { ...each, wallets: each.wallets.filter((wallet) => !out.has(wallet)) }
    const context = { config, timestamp, ...around, findings, useSignature: uses.useSignature, problems }
    const found = creditEvent(placed, makers[index] ?? [], context)
    if (found.size > 0) credits.set(placed.event, found)
    else if (
      around.frames.some((frame) => isOpen(findings.get(frame), placed, mayCount, made ? undefined : makers[index]))
    )
      problems.add(needsTrace)
  })
  const choose = (finding: Finding) => chooseDistributor(finding, (code) => isRegistered(config, code, timestamp))
  const isUnsettled = credits.size === 0 && (problems.has(needsTrace) || problems.has(oneNodesWord))
  const summary = summarize(all, choose)
  return {
    credits,
    strangers,
    summary: { ...summary, ...(isUnsettled ? { distributorId: null } : {}), problems: [...problems].sort() },
    used: uses.list(),
  }
}

function isTraced(evidence: Evidence | undefined): evidence is CallPaths {
  return evidence !== undefined && evidence !== 'no trace'
}

function listDefined<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value]
}

/** The wallets with code, among the keepers of a deposit, that made no call around the call of the deposit. */
function listStrangers(
  placed: PlacedEvent,
  makers: readonly Frame[],
  contracts: ReadonlySet<string>,
  { frames, listAround }: Surroundings,
): ReadonlySet<string> {
  const { event, wallets, keepers = wallets } = placed
  if (event.kind !== 'deposit' || contracts.size === 0) return new Set()
  const around = makers.length === 0 ? frames : makers.flatMap(listAround)
  const callers = new Set<string>(
    around.flatMap((frame) =>
      frame.proven ? [frame.caller, speakerOf(frame, placed), ownerOf(speakerOf(frame, placed), placed)] : [],
    ),
  )
  return new Set(keepers.filter((wallet) => contracts.has(wallet) && !callers.has(wallet)))
}

/** Whether a trace could prove that the codes of a frame count for an event that is credited to nobody. */
function isOpen(
  finding: Finding | undefined,
  placed: PlacedEvent,
  mayCount: (finding: Finding) => boolean,
  makers: readonly Frame[] | undefined,
): boolean {
  if (finding === undefined) return false
  if (isUnprovenClaim(finding, placed)) return true
  return makers !== undefined && mayCount(finding) && mayHaveMade(finding.frame, placed, makers)
}

/** An operation that an entry point ran: the logs after `after` and before `endedAt` were made in it. */
type RanOperation = { entryPoint: string; after: number; endedAt: number }

/** The operations that entry points ran, whether calldata tells of them or not, in the order of their ends. */
function listOperations({ config, logs }: { config: DeriveConfig; logs: readonly RawLog[] }): RanOperation[] {
  const last = new Map<string, number>()
  return logs.flatMap(({ address: entryPoint, logIndex: endedAt, topics: [first] }) => {
    const isEnd = first === operationTopics.ended
    if (!(isEnd || first === operationTopics.execution) || !config.entryPoints.includes(entryPoint)) return []
    const after = last.get(entryPoint) ?? -1
    last.set(entryPoint, endedAt)
    return isEnd ? [{ entryPoint, after, endedAt }] : []
  })
}

/** The entry point of the innermost operation that a log was made in: of nested ones that ends first. */
function findOperation(operations: readonly RanOperation[], logIndex: number): string | undefined {
  return operations.find(({ after, endedAt }) => after < logIndex && logIndex < endedAt)?.entryPoint
}

/** The calls of the transaction and of each operation in it, with the logs they made. */
function listScopes(
  { transaction, attribution }: { transaction: RawTransaction; attribution: Attribution },
  operations: readonly RanOperation[],
): Scope[] {
  // The operations of a bundle sent to an entry point are those of its events, in order.
  const own = operations.filter(({ entryPoint }) => entryPoint === transaction.to)
  const { bundle } = attribution
  const outermost: Scope[] = bundle ? [{ frames: [bundle.frame], covers: () => true }] : []
  const groups = attribution.frames.map((group): Scope => {
    const { frames } = group
    if (group.kind === 'transaction') return { frames, covers: () => true }
    const { index, endedAt } = group
    const ran = endedAt === undefined ? own[index] : operations.find((each) => each.endedAt === endedAt)
    if (!ran) return { frames, covers: () => false }
    return { frames, covers: (logIndex) => logIndex > ran.after && logIndex < ran.endedAt }
  })
  return [...outermost, ...groups]
}

type Surroundings = Pick<CreditContext, 'listAround' | 'innermostCarrier'> & { frames: readonly Frame[] }

/**
 * The frames an event lies in and those around each call of them. Events of the same calls share them: a transaction may
 * hold a thousand of each.
 */
function createSurroundings(
  scopes: readonly Scope[],
  findings: ReadonlyMap<Frame, Finding>,
): { of: (logIndex: number) => Surroundings } {
  const known = new Map<string, Surroundings>()
  return {
    of: (logIndex) => {
      const covering = [...scopes.keys()].filter((index) => scopes[index]?.covers(logIndex))
      const key = covering.join()
      const found =
        known.get(key) ??
        openSurroundings(
          covering.flatMap((index) => scopes[index]?.frames ?? []),
          findings,
        )
      known.set(key, found)
      return found
    },
  }
}

function openSurroundings(frames: readonly Frame[], findings: ReadonlyMap<Frame, Finding>): Surroundings {
  const around = new Map<Frame, readonly Frame[]>()
  const listAround = (call: Frame): readonly Frame[] => {
    const found =
      around.get(call) ??
      (call.within === undefined
        ? frames.filter((frame) => frame === call || isInside(call, frame))
        : listOutwards(call))
    around.set(call, found)
    return found
  }
  const carriers = new Map<Frame, Frame | undefined>()
  const innermostCarrier = (call: Frame): Frame | undefined => {
    if (carriers.has(call)) return carriers.get(call)
    const carrying = listAround(call).filter((frame) => findings.has(frame))
    const innermost = carrying.reduce<Frame | undefined>((a, b) => (a && a.depth > b.depth ? a : b), undefined)
    carriers.set(call, innermost)
    return innermost
  }
  return { frames, listAround, innermostCarrier }
}

function listOutwards(call: Frame): Frame[] {
  const found: Frame[] = []
  for (let at: Frame | null | undefined = call; at; at = at.within) found.push(at)
  return found.reverse()
}

/** The call of this transaction for which each signature counted, by vault. */
function createUses(isUsed: (vaultId: number, digest: string) => boolean): {
  useSignature: CreditContext['useSignature']
  list: () => UsedSignature[]
} {
  const calls = new Map<string, UsedSignature & { call: Frame }>()
  return {
    useSignature: (vaultId, digest, call, keep) => {
      const key = `${vaultId}:${digest}`
      const first = calls.get(key)
      if (first) return first.call === call
      if (isUsed(vaultId, digest)) return false
      if (keep) return true
      calls.set(key, { vaultId, digest, call })
      return true
    },
    list: () => [...calls.values()].map(({ vaultId, digest }) => ({ vaultId, digest })),
  }
}

function summarize(
  findings: readonly Finding[],
  choose: (finding: Finding) => ReturnType<typeof chooseDistributor>,
): CalldataSummary {
  const proven = findings.filter(({ frame }) => frame.proven)
  const chosen = proven.map((finding) => ({ finding, candidate: choose(finding) })).find(({ candidate }) => candidate)
  const front = proven[0] ?? findings[0]
  const reading = chosen?.candidate?.reading ?? front?.candidates[0]?.reading ?? front?.readings[0]
  const codes = [...new Set(findings.flatMap((finding) => finding.codes))]
  if (!reading) return { ...nothing, codes }
  const schemaId = reading.kind === 'erc8021' && 'schemaId' in reading.suffix ? reading.suffix.schemaId : undefined
  return {
    ...nothing,
    distributorId: chosen?.candidate?.code ?? null,
    codes,
    schema: reading.kind === 'legacy' ? 'legacy' : schemaId === undefined ? null : `erc8021-${schemaId}`,
    signatureValid: reading.signature.present ? reading.signature.valid : null,
    actionId:
      reading.kind === 'erc8021' && reading.signature.valid && proven.length > 0 ? (reading.actionId ?? null) : null,
  }
}
