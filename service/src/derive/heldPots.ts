import type { DeclaredHolder } from '../vaults/holders/index.js'
import type { DeriveVault } from './config.js'
import { smaller } from './lots.js'
import { freshHolderState, type HeldState, type HolderState, heldKey, holderKey } from './rows.js'
import type { Leg } from './transfers.js'

/**
 * A wallet's shares lie in pots: one for what it has itself, named as the wallet, and one for what each declared holder keeps
 * for it, named `account@holder`. The pot named as a holder has the shares that the holder keeps for nobody.
 */
export const potOf = (account: string, holder: string): string => `${account}@${holder}`

/** The account and the holder of a pot; a pot of a wallet itself has no holder. */
export function partsOf(pot: string): { account: string; holder: string | undefined } {
  const at = pot.indexOf('@')
  return at < 0 ? { account: pot, holder: undefined } : { account: pot.slice(0, at), holder: pot.slice(at + 1) }
}

/** The amounts of pots inside a transaction. */
export type RunningPots = { amountOf(pot: string): bigint; move(leg: Leg): void }

/** The shares of a vault with declared holders in one transaction. */
export type FollowedHolders = {
  /** The moves between pots, in the order of the logs. */
  legs: Leg[]
  /** Holders whose accounts counted before the transaction. */
  counted: ReadonlySet<string>
  /** Holders that count from this transaction on. */
  started: ReadonlySet<string>
  /** Holders whose accounts counted before the transaction, and do not in it: their view contradicts their events. */
  ended: ReadonlySet<string>
  /** Holders that are not believed from the end of this transaction on, or from its beginning, with the reason. */
  broken: ReadonlyMap<string, BrokenReason>
  ignored: ReadonlyMap<string, number>
  pots: RunningPots
  /** Who counts for the shares of a pot. */
  ownerOf(pot: string): string
  move(leg: Leg): void
  breakAt(holder: string, reason: BrokenReason): void
  ignore(holder: string): void
}

export const shortReason = 'more shares left it than it had for nobody'
export const viewReason = 'its view differs'
export type BrokenReason = 'upgraded' | typeof shortReason | typeof viewReason

/** The declared holders of a vault by address: the newest declaration in force, else the first to come. */
export function listHolders(vault: DeriveVault, timestamp: number): ReadonlyMap<string, DeclaredHolder> {
  const holders = new Map<string, DeclaredHolder>()
  for (const holder of vault.holders ?? []) {
    const known = holders.get(holder.address)
    const isBetter = !known || (holder.from <= timestamp ? holder.from > known.from : holder.from < known.from)
    if (isBetter || (known.from > timestamp && holder.from <= timestamp)) holders.set(holder.address, holder)
  }
  return holders
}

export function stateOfHolder(state: HeldState, vaultId: number, holder: string): HolderState {
  return state.holderStates.get(holderKey(vaultId, holder)) ?? freshHolderState
}

/** Whether a holder begins to count: its declaration is in force and newer than what broke it. */
export function isDue({ phase, brokenAt }: HolderState, { from }: DeclaredHolder, timestamp: number): boolean {
  return phase !== 'counting' && from <= timestamp && from > brokenAt
}

/** Whether the view of a holder was found to contradict its events since its declaration. */
export function isDoubted(
  { doubts }: Pick<DeriveVault, 'doubts'>,
  { address, from }: DeclaredHolder,
  timestamp: number,
): boolean {
  return doubts?.some(({ holder, at }) => holder === address && from <= at && at < timestamp) ?? false
}

/** Opens the holders of a vault for one transaction. `isUnbounded`: every account is taken to hold enough, and to count. */
export function openHolders(
  vault: DeriveVault,
  { state, timestamp, isUnbounded }: { state: HeldState; timestamp: number; isUnbounded?: boolean },
): FollowedHolders {
  const holders = listHolders(vault, timestamp)
  const [counted, started, ended] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const [broken, ignored] = [new Map<string, BrokenReason>(), new Map<string, number>()]
  for (const [address, holder] of holders) {
    const before = stateOfHolder(state, vault.id, address)
    const isIn = before.phase === 'counting'
    if (isIn) counted.add(address)
    if (!isIn && !isUnbounded && !isDue(before, holder, timestamp)) continue
    if (isUnbounded || !isDoubted(vault, holder, timestamp)) {
      if (!isIn) started.add(address)
      continue
    }
    if (isIn) ended.add(address)
    broken.set(address, viewReason)
  }
  const pots = isUnbounded ? boundless : openRunning(vault.id, holders, state)
  const counts = (holder: string) => (counted.has(holder) && !ended.has(holder)) || started.has(holder)
  const legs: Leg[] = []
  return {
    ...{ legs, counted, started, ended, broken, ignored, pots },
    ownerOf: (pot) => {
      const { account, holder } = partsOf(pot)
      return holder === undefined || counts(holder) ? account : holder
    },
    move: (leg) => {
      pots.move(leg)
      legs.push(leg)
    },
    breakAt: (holder, reason) => {
      // Before it counts, its code is nobody's business: who declares it later has looked at the new code.
      if (!(!counts(holder) && reason === 'upgraded') && broken.get(holder) !== shortReason) broken.set(holder, reason)
    },
    ignore: (holder) => ignored.set(holder, (ignored.get(holder) ?? 0) + 1),
  }
}

const most = 1n << 256n
const boundless: RunningPots = { amountOf: () => most, move: () => undefined }

function openRunning(vaultId: number, holders: ReadonlyMap<string, unknown>, state: HeldState): RunningPots {
  const amounts = new Map<string, bigint>()
  const amountOf = (pot: string): bigint => {
    const known = amounts.get(pot)
    if (known !== undefined) return known
    const { account, holder = account } = partsOf(pot)
    return state.held.get(heldKey(vaultId, holder, account))?.shares ?? 0n
  }
  const isHeld = (pot: string) => pot.includes('@') || holders.has(pot)
  return {
    amountOf,
    move: ({ from, to, amount }) => {
      if (isHeld(from)) amounts.set(from, amountOf(from) - smaller(amount, amountOf(from)))
      if (isHeld(to)) amounts.set(to, amountOf(to) + amount)
    },
  }
}
