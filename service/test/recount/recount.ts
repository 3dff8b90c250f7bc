import type { DeriveConfig, DeriveVault } from '../../src/derive/config.js'
import type { RawBlock, RawTransaction } from '../../src/rpc/raw.js'
import { digitsOf, least } from './bytes.js'
import { claimDeposit, claimWithdraw } from './claims.js'
import type { Credit } from './credit.js'
import { type Deciding, type Decision, decide, isParty, useSignatures } from './deciding.js'
import { type Entry, makeEntries, type Place } from './entries.js'
import { depositParts, withdrawParts } from './flows.js'
import { identify, noteOwners } from './identity.js'
import { addressesOf, follow, type Habit, holdsForOthers, type Kept, type Movement, readHabit } from './keeping.js'
import { makes } from './knownCalls.js'
import { type Losses, readLosses } from './losses.js'
import { addShares, attributedOf, type Holding, splitByFraction, takeShares } from './lots.js'
import { runnerOf } from './operations.js'
import { giveDepositBack, noteRefundable, payOrder, type Refundables, replaceOrder, takeRefunded } from './orders.js'
import { beginCancel, completeCancel, type Request } from './requests.js'
import { readSettlement } from './settlement.js'
import { readMove, readTold } from './told.js'
import { ownLogs } from './traceFrames.js'
import { type Creditable, type Frame, isCreditable, type Told, type Ways } from './types.js'
import { findWays } from './ways.js'

export type Problem = { vaultId: number; transactionHash: string; problem: string }
/** What a wallet held of a vault after a transaction that changed it. */
export type Change = {
  vaultId: number
  wallet: string
  blockNumber: number
  transactionIndex: number
  after: bigint
  lots: Record<string, bigint>
}
export type Recounted = {
  entries: Entry[]
  changes: Change[]
  balances: Map<string, bigint>
  lots: Map<string, Record<string, bigint>>
  requests: Request[]
  problems: Problem[]
  /** Per transaction, vault and wallet: what it ended with more than before, and the marks it keeps of it. */
  gains: { wallet: string; gained: bigint; kept: bigint }[]
}
type State = Recounted & {
  holdings: Map<string, Holding>
  habits: Map<number, Habit>
  used: Map<string, string>
  /** Of sub-accounts: forwarder and first 19 bytes to the owner. */
  owners: Map<string, string>
  /** Deposits that may be given back, by vault and number. */
  refundables: Refundables
  config: DeriveConfig
}

const keyOf = (vaultId: number, wallet: string) => `${vaultId}:${wallet}`
const zero = `0x${'0'.repeat(40)}`
const dead = '0x000000000000000000000000000000000000dead'

/** The ledger, lots, balances and requests of blocks, counted again from the text of SEMANTICS §2 to §3a. */
export function recount(blocks: readonly RawBlock[], config: DeriveConfig): Recounted {
  const state: State = {
    entries: [],
    changes: [],
    balances: new Map(),
    lots: new Map(),
    requests: [],
    problems: [],
    gains: [],
    holdings: new Map(),
    habits: new Map(),
    used: new Map(),
    owners: new Map(),
    refundables: new Map(),
    config,
  }
  for (const block of blocks) {
    noteOwners(block, config, state.owners)
    const hashes = [...new Set(block.logs.map(({ transactionHash }) => transactionHash))]
    const losses = new Map(config.vaults.map((vault) => [vault.id, readLosses(block, vault)]))
    for (const hash of hashes)
      for (const vault of config.vaults)
        if (block.number >= vault.startBlock) recountTransaction(block, hash, vault, losses.get(vault.id)!, state)
  }
  for (const [key, holding] of state.holdings) {
    state.balances.set(key, holding.shares)
    state.lots.set(key, plainLots(holding))
  }
  return state
}

const plainLots = ({ lots }: Holding): Record<string, bigint> =>
  Object.fromEntries([...lots].filter(([, lot]) => lot > 0n).sort(([a], [b]) => (a < b ? -1 : 1)))

function recountTransaction(block: RawBlock, hash: string, vault: DeriveVault, losses: Losses, state: State): void {
  const logs = block.logs.filter(({ transactionHash }) => transactionHash === hash)
  const moves = logs.flatMap((log) => readMove(log, vault) ?? [])
  const events = logs.flatMap((log) => readTold(log, vault, logs) ?? [])
  if (moves.length + events.length === 0) return
  if (!state.habits.has(vault.id)) {
    const habit = readHabit(vault, moves, events)
    if (habit) state.habits.set(vault.id, habit)
  }
  const transaction = block.transactions.find((each) => each.hash === hash)
  const evidence = transaction?.evidence
  const traced = evidence !== undefined && evidence !== 'no trace' ? evidence : undefined
  const balanceOf = (wallet: string) => state.holdings.get(keyOf(vault.id, wallet))?.shares ?? 0n
  const habit = state.habits.get(vault.id) ?? 'before'
  const movement = follow(vault, moves, events, balanceOf, habit, traced?.hasLogs ? ownLogs(traced) : undefined)
  if (movement.beyond > 0)
    state.problems.push({
      vaultId: vault.id,
      transactionHash: hash,
      problem: `${movement.beyond} moves beyond a balance`,
    })
  const credits = creditEvents(block, transaction, vault, events, movement, state)
  apply(block, logs[0]!.transactionIndex, hash, vault, events, movement, credits, losses, state)
}

function creditEvents(
  block: RawBlock,
  transaction: RawTransaction | undefined,
  vault: DeriveVault,
  events: readonly Told[],
  movement: Movement,
  state: State,
): Map<Told, Credit> {
  const creditable = events.filter(isCreditable)
  const keepers = (event: Told): Map<string, bigint> => sharesOf(movement, event, ({ marks }) => marks)
  // Who only holds shares of others, as an escrow does, withdraws nothing.
  const losers = (event: Told): Map<string, bigint> => {
    const burned = [...sharesOf(movement, event, (kept) => kept.burned)]
    return new Map(burned.filter(([wallet]) => !holdsForOthers(vault, wallet)))
  }
  const concerned = (event: Creditable) => (event.kind === 'deposit' ? keepers(event) : losers(event))
  const settlementOf = readSettlement(block, transaction, state.config)
  const own = addressesOf(vault)
  const identity = identify(state.config, block.timestamp, own, state.owners, settlementOf)
  const logs = block.logs.filter(({ transactionHash }) => transactionHash === transaction?.hash)
  // A frame around a `handleOps` counts for no event inside its operations.
  const isWithin = (frame: Frame, event: Creditable): boolean => {
    const runner = runnerOf(event.logIndex, logs, state.config.entryPoints)
    return runner === undefined || frame.bundles.includes(runner)
  }
  const countingFor = (of: ReadonlyMap<string, bigint>, event: Creditable, frame: Frame) => {
    const caller = identity.callerOf(frame, event)
    if (!isWithin(frame, event)) return false
    return isParty(event, caller, identity) || [...of.keys()].map(identity.ownerOf).includes(caller)
  }
  const counting = (event: Creditable, frame: Frame) => countingFor(concerned(event), event, frame)
  const isActive = transaction !== undefined && vault.activeFrom <= block.timestamp
  const ways: Map<Creditable, Ways> = isActive
    ? findWays(
        transaction,
        block,
        own,
        creditable,
        isPlain(block, transaction, state.config),
        counting,
        identity,
        state.config,
      )
    : new Map()
  const credits = new Map<Told, Credit>()
  for (const event of creditable) {
    const way: Ways = ways.get(event) ?? { ways: [], callers: new Set() }
    const kept = new Map([...keepers(event)].filter(([wallet]) => mayKeep(vault, wallet, transaction, way)))
    const deciding: Deciding = {
      config: state.config,
      timestamp: block.timestamp,
      transactionHash: transaction?.hash ?? '',
      input: digitsOf(transaction?.input ?? '0x'),
      vault: own,
      identity,
      used: state.used,
      isWithin,
      trustTraces: (state.config as { trustTraces?: boolean }).trustTraces ?? false,
    }
    const whose = event.kind === 'deposit' ? kept : losers(event)
    // A settlement for a contract that keeps nothing uses no signature up.
    if (way.ways.length === 1) useSignatures(way.ways[0]!, event, (frame) => countingFor(whose, event, frame), deciding)
    const wallets = [...whose.keys()]
    if ('controller' in event) wallets.push(event.controller)
    if (event.kind === 'deposit') wallets.push(event.sender)
    const decisions = new Map<string, Decision | undefined>()
    for (const wallet of new Set(wallets)) decisions.set(wallet, decide(way, event, wallet, deciding))
    credits.set(event, { kept: whose, decisions })
    if (way.ways.length > 1 && [...decisions.values()].every((each) => each === undefined))
      state.problems.push({ vaultId: vault.id, transactionHash: deciding.transactionHash, problem: 'needs a trace' })
  }
  return credits
}

function sharesOf({ wallets }: Movement, event: Told, of: (kept: Kept) => Kept['marks']): Map<string, bigint> {
  const shares = new Map<string, bigint>()
  for (const [wallet, kept] of wallets)
    for (const part of of(kept))
      if (part.event === event && part.amount > 0n) shares.set(wallet, (shares.get(wallet) ?? 0n) + part.amount)
  return shares
}

/** Only a wallet without code, or the caller of a frame around the call, keeps marks. */
function mayKeep(
  vault: DeriveVault,
  wallet: string,
  transaction: RawTransaction | undefined,
  { callers }: Ways,
): boolean {
  if (wallet === zero || wallet === dead || holdsForOthers(vault, wallet)) return false
  if (callers.has(wallet)) return true
  return !((transaction as { contracts?: readonly string[] } | undefined)?.contracts ?? []).includes(wallet)
}

/** SEMANTICS §2, *Evidence*: nothing but the transaction's own input is needed. */
export function isPlain(block: RawBlock, { hash, from, to, input }: RawTransaction, { vaults }: DeriveConfig): boolean {
  const told = block.logs
    .filter(({ transactionHash }) => transactionHash === hash)
    .flatMap((log) =>
      vaults.flatMap((vault) => (block.number < vault.startBlock ? [] : (readTold(log, vault, block.logs) ?? []))),
    )
  const [only] = told
  if (told.length !== 1 || only === undefined || !isCreditable(only)) return false
  const emitter = block.logs.find(({ logIndex }) => logIndex === only.logIndex)!.address
  return emitter === to && only.sender === from && makes(digitsOf(input)) === only.kind
}

function apply(
  block: RawBlock,
  transactionIndex: number,
  transactionHash: string,
  vault: DeriveVault,
  events: readonly Told[],
  movement: Movement,
  credits: ReadonlyMap<Told, Credit>,
  losses: Losses,
  state: State,
): void {
  const place: Place = {
    blockNumber: block.number,
    blockHash: block.hash,
    timestamp: block.timestamp,
    transactionHash,
    transactionIndex,
  }
  // What each wallet's lots give, before anything is added.
  const taken = new Map<string, Map<string | null, bigint>>()
  const touched = new Map<string, Holding>()
  for (const [wallet, kept] of movement.wallets) {
    const holding = state.holdings.get(keyOf(vault.id, wallet)) ?? { shares: 0n, lots: new Map() }
    state.holdings.set(keyOf(vault.id, wallet), holding)
    touched.set(wallet, holding)
    const given = takeRefunded(wallet, holding, kept.lost, events, state.refundables, block.timestamp)
    taken.set(wallet, takeShares(holding, kept.lost - given))
    addShares(holding, null, kept.after - (kept.before - kept.lost))
  }
  const addLot = (wallet: string, distributorId: string | null, shares: bigint) => {
    const holding = touched.get(wallet)!
    if (distributorId !== null && shares > 0n)
      holding.lots.set(distributorId, (holding.lots.get(distributorId) ?? 0n) + shares)
  }
  for (const event of events) {
    const credit = credits.get(event)
    if (event.kind === 'deposit' && credit) {
      const minted = movement.minted.get(event) ?? 0n
      const { parts, lots } = isClaim(vault, event)
        ? claimDeposit(event, credit, minted, state.requests, losses)
        : depositParts(event, credit, minted)
      for (const { wallet, distributorId, shares } of lots) addLot(wallet, distributorId, shares)
      noteRefundable(event, credit, parts, state.refundables)
      state.entries.push(...makeEntries(event, parts, place, state.config.chainId))
    }
    if (event.kind === 'withdraw' && credit) {
      const burned = movement.burned.get(event) ?? 0n
      const parts =
        event.refunds !== undefined
          ? giveDepositBack(event, state.refundables, block.timestamp)
          : event.pays !== undefined
            ? payOrder(event, state.requests)
            : isClaim(vault, event)
              ? claimWithdraw(event, credit, burned, state.requests, losses)
              : withdrawParts(event, credit, burned, event.assets)
      state.entries.push(...makeEntries(event, parts, place, state.config.chainId))
    }
    if ((event.kind === 'depositRequest' || event.kind === 'redeemRequest') && credit)
      openRequests(event, credit, place, movement, taken, state)
    if (event.kind === 'cancelDepositRequest' || event.kind === 'cancelRedeemRequest')
      beginCancel(state.requests, event)
    if (event.kind === 'cancelDepositClaim' || event.kind === 'cancelRedeemClaim') {
      const consumed = completeCancel(state.requests, event)
      if (event.kind === 'cancelRedeemClaim') giveBack(event, consumed, movement, addLot)
    }
  }
  for (const [wallet, holding] of touched) {
    if (wallet === zero) continue
    const kept = movement.wallets.get(wallet)!
    // What it gained beside old shares that it gave to others: those are no withdrawal.
    const net = kept.after - kept.before + kept.given
    const gained = net > 0n ? net : 0n
    if (!holdsForOthers(vault, wallet))
      state.gains.push({ wallet, gained, kept: kept.marks.reduce((sum, { amount }) => sum + amount, 0n) })
    state.changes.push({
      vaultId: vault.id,
      wallet,
      blockNumber: block.number,
      transactionIndex,
      after: holding.shares,
      lots: plainLots(holding),
    })
    if (attributedOf(holding) > holding.shares)
      throw new Error(`lots of ${wallet} exceed its balance in ${transactionHash}`)
  }
}

/** Whether an event is the claim of requests: of an asynchronous side, and not at once. */
function isClaim({ kind }: DeriveVault, event: Extract<Told, { kind: 'deposit' | 'withdraw' }>): boolean {
  const side = event.kind === 'deposit' ? 'deposit' : 'redeem'
  if (kind === 'maple') return side === 'redeem'
  return !event.atOnce && (kind === 'erc7540' || kind === 'lagoon' || kind === `erc7540-${side}`)
}

/** Every request opens a request lot: of assets, or of the shares it took. */
function openRequests(
  event: Extract<Told, { kind: 'depositRequest' | 'redeemRequest' }>,
  { kept, decisions }: Credit,
  { blockNumber, transactionHash }: Place,
  movement: Movement,
  taken: ReadonlyMap<string, Map<string | null, bigint>>,
  state: State,
): void {
  const { vaultId, controller, owner, id, amount, logIndex } = event
  const isDeposit = event.kind === 'depositRequest'
  // Whose shares it took most of; else the owner the event names.
  const [most] = [...kept].sort(([a, first], [b, other]) =>
    first !== other ? (first > other ? -1 : 1) : a < b ? -1 : 1,
  )
  const wallet = isDeposit ? owner : (most?.[0] ?? owner)
  const counted = isDeposit ? amount : (most?.[1] ?? 0n)
  const list = isDeposit ? [] : [...(taken.get(wallet) ?? [])].map(([name, part]) => ({ name, amount: part }))
  const parts = splitByFraction(list, least(counted, movement.wallets.get(wallet)?.lost ?? 0n))
  const decision = decisions.get(controller)
  const request: Request = {
    vaultId,
    kind: isDeposit ? 'deposit' : 'redeem',
    controller,
    owner: wallet,
    requestId: id,
    distributorId: decision?.distributorId ?? null,
    attribution: decision?.attribution ?? null,
    isSwap: decision?.isSwap ?? false,
    amount,
    counted,
    remaining: amount,
    cancelled: 0n,
    cancelling: false,
    blockNumber,
    transactionHash,
    logIndex,
    taken: new Map([...parts].map(([{ name }, part]) => [name, part])),
    promised: event.promised,
  }
  replaceOrder(event, request, state.requests)
  state.requests.push(request)
}

/** Shares a cancel returns to the wallet they were taken from are again what they were. */
function giveBack(
  event: Told,
  consumed: ReturnType<typeof completeCancel>,
  { wallets }: Movement,
  addLot: (wallet: string, distributorId: string | null, shares: bigint) => void,
): void {
  for (const [wallet, kept] of wallets) {
    let left = kept.returned.filter((part) => part.event === event).reduce((sum, { amount }) => sum + amount, 0n)
    for (const { request, amount } of consumed) {
      if (request.owner !== wallet) continue
      const back = least(amount, left)
      left -= back
      const list = [...request.taken].map(([name, part]) => ({ name, amount: part }))
      // Where the wallet received as much in the request's transaction, lots gave less than the request took: no more comes back.
      const gave = list.reduce((sum, { amount: part }) => sum + part, 0n)
      for (const [{ name }, part] of splitByFraction(list, least(back, gave))) {
        addLot(wallet, name, part)
        request.taken.set(name, (request.taken.get(name) ?? 0n) - part)
      }
    }
  }
}
