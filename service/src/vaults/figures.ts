import { type Address, parseAbi } from 'viem'
import type { Chain } from '../rpc/chains.js'
import { multicallMany } from '../rpc/manyReads.js'
import { combine, mapRead, type Read, readAccount, readContract } from '../rpc/multicall.js'
import type { FiguresAnswer, ObservedVault, VaultFigures } from './kind.js'
import { erc4626 } from './kinds/erc4626.js'
import { findVaultKind } from './kinds.js'

/** The capability of a vault as read. The reasons are sentences, `''` if it is open. */
export type VaultState = {
  depositOpen: boolean
  withdrawOpen: boolean
  depositClosedReason: string
  withdrawClosedReason: string
  /** A deposit or withdrawal completes at once now, though vaults of the kind may take a request instead. */
  depositAtOnce: boolean
  withdrawAtOnce: boolean
  /** Its stated maximum of one deposit; many vaults return 0 or nonsense, so it decides nothing. Undefined if it states none. */
  maxDeposit: bigint | undefined
  /** Undefined when the vault does not answer all of them. */
  figures: VaultFigures | undefined
}

const pausableAbi = parseAbi(['function paused() view returns (bool)'])

/**
 * Reads figures and limits of every vault at one block (default: the newest), in as few calls as nodes accept. A vault without a
 * sensible response is closed and has no figures; a vault that no node could read is undefined. Throws a 503 if the node does
 * not respond.
 */
export async function readVaultStates(
  chain: Pick<Chain, 'name' | 'rpc'>,
  vaults: readonly ObservedVault[],
  blockHash?: string,
): Promise<(VaultState | undefined)[]> {
  const at = blockHash === undefined ? 'latest' : { blockHash }
  const reads = vaults.map(askVault)
  const { answers } = await multicallMany(chain, reads, at, figuresPerCall)
  // Gas is shared by the reads of one call: those it did not last for are asked again, few in a call.
  const silent = answers.flatMap((read, index) =>
    read?.answer.isCut && vaults.length > thoroughPerCall ? [index] : [],
  )
  const again = await multicallMany(
    chain,
    silent.flatMap((index) => reads[index] ?? []),
    at,
    thoroughPerCall,
  )
  for (const [place, index] of silent.entries()) answers[index] = again.answers[place] ?? answers[index]
  return answers.map((read) => read?.answer.state)
}

const figuresPerCall = 150
/** Vaults in a call once more where the gas of a large one did not last. */
const thoroughPerCall = 10

export type ReadFigures<T, U = undefined> = {
  /** In the order of the vaults. `isRefused`: no node took a call with it alone, so nothing is known. */
  figures: { figures: VaultFigures | undefined; isRefused: boolean }[]
  /** The further reads of each vault; undefined for failed ones. */
  told: (U | undefined)[]
  besides: (T | undefined)[]
  calls: number
  halvings: number
}

/**
 * Reads the figures of vaults, all at one block, and what else is asked of that block. Vaults that did not answer all of
 * them are asked again, few in a call: gas is shared by the reads of one.
 */
export async function readFigures<T, U = undefined>(
  chain: Pick<Chain, 'name' | 'rpc'>,
  vaults: readonly ObservedVault[],
  blockHash: string,
  besides: readonly Read<T>[] = [],
  askAlso?: (vault: ObservedVault) => Read<U>,
): Promise<ReadFigures<T, U>> {
  const asked = vaults
    .map((vault, index) => ({ index, read: askBoth(vault, askAlso) }))
    .filter(({ read }) => read.reads.length)
  const reads: Read<Both<U> | T>[] = [...besides, ...asked.map(({ read }) => read)]
  const first = await multicallMany(chain, reads, { blockHash }, figuresPerCall)
  const found = new Map(asked.map(({ index }, at) => [index, first.answers[besides.length + at]]))
  const answerOf = (index: number) => found.get(index)?.answer as Both<U> | undefined
  const silent = asked.filter(({ index }) => !answerOf(index)?.figures)
  const isSmall = reads.length <= thoroughPerCall
  const again = isSmall
    ? { answers: [], calls: 0, halvings: 0 }
    : await multicallMany(
        chain,
        silent.map(({ read }) => read),
        { blockHash },
        thoroughPerCall,
      )
  again.answers.forEach((answer, at) => {
    const place = silent[at]
    if (place && answer) found.set(place.index, answer)
  })
  return {
    figures: vaults.map((_, index) => ({
      figures: answerOf(index)?.figures,
      isRefused: found.has(index) && found.get(index) === undefined,
    })),
    told: vaults.map((_, index) => answerOf(index)?.told),
    besides: besides.map((_, at) => first.answers[at]?.answer as T | undefined),
    calls: first.calls + again.calls,
    halvings: first.halvings + again.halvings,
  }
}

type Both<U> = FiguresAnswer & { told: U | undefined }

function askBoth<U>(vault: ObservedVault, askAlso: ((vault: ObservedVault) => Read<U>) | undefined): Read<Both<U>> {
  const figures = askFigures(vault)
  if (!askAlso || figures.reads.length === 0) return mapRead(figures, (answer) => ({ ...answer, told: undefined }))
  return mapRead(combine({ figures, told: askAlso(vault) }), ({ figures, told }) => ({ ...figures, told }) as Both<U>)
}

/** `isCut`: the contract exists, and it did not respond as its kind does. */
function askVault(vault: ObservedVault): Read<{ state: VaultState; isCut: boolean }> {
  const address = vault.address as Address
  const identity = { code: readAccount(address), paused: readContract(address, pausableAbi, 'paused', []) }
  const answered = askFigures(vault)
  const atOnce = findVaultKind(vault.kind ?? '')?.readAtOnce?.(vault) ?? neverAtOnce
  return mapRead(combine({ ...identity, answered, atOnce }), ({ code, paused, answered: told, atOnce: now }) => ({
    state: {
      ...decideState(code.codeLength, paused),
      ...{ depositAtOnce: now.deposit, withdrawAtOnce: now.withdraw },
      ...told,
    },
    isCut: code.codeLength > 0n && answered.reads.length > 0 && told.figures === undefined,
  }))
}

const neverAtOnce: Read<{ deposit: boolean; withdraw: boolean }> = {
  reads: [],
  answer: () => ({ deposit: false, withdraw: false }),
}

const noFigures: Read<FiguresAnswer> = { reads: [], answer: () => ({ figures: undefined, maxDeposit: undefined }) }

/** The reads of the kind; empty for a kind that is not indexed. */
function askFigures(vault: ObservedVault): Read<FiguresAnswer> {
  const kind = vault.kind === undefined ? erc4626 : findVaultKind(vault.kind)
  return kind?.readFigures?.(vault) ?? noFigures
}

function decideState(codeLength: bigint, paused: boolean | undefined) {
  const all =
    codeLength === 0n ? 'There is no contract at the address of the vault.' : paused ? 'The vault is paused.' : ''
  return {
    depositOpen: all === '',
    withdrawOpen: all === '',
    depositClosedReason: all,
    withdrawClosedReason: all,
  }
}
