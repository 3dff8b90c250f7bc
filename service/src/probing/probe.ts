import {
  type Address,
  erc20Abi,
  erc4626Abi,
  getAddress,
  type Hex,
  isAddressEqual,
  size,
  slice,
  zeroAddress,
} from 'viem'
import { OutboundError } from '../kernel/outbound.js'
import { bytesTextAbi } from '../rpc/abis.js'
import { readHead } from '../rpc/blocks.js'
import type { Chain } from '../rpc/chains.js'
import { multicallMany } from '../rpc/manyReads.js'
import { combine, mapRead, multicall, type Read, readAccount, readContract } from '../rpc/multicall.js'
import type { Header } from '../rpc/raw.js'
import { RpcError } from '../rpc/rpc.js'
import { answers, toQuantity } from '../rpc/wire.js'
import type { Recognised, Vault, VaultKind } from '../vaults/index.js'
import { findVaultKind, readVaultStates, type VaultState, vaultKinds } from '../vaults/index.js'
import { findFirstBlocks } from './firstBlocks.js'
import { findShape, noteProduct } from './shapes/findShape.js'
import { type Ask, askHints, type Hints } from './shapes/hints.js'
import { decideByTrial, type Trial, tryVaults } from './trial.js'

export type ProbedToken = { address: Address; symbol: string; name: string; decimals: number }

/** The findings about an address. Texts of contracts are not cleaned. */
export type ProbedVault = {
  /** The contract it is listed at: another than the one asked about where that is only a part of it. */
  address: Address
  kind: string
  /** Its further contracts, by name. */
  contracts: Readonly<Record<string, Address>>
  /** The contract that holds shares requested for redemption; undefined if none was found. */
  escrow: Address | undefined
  asset: ProbedToken
  receiptToken: ProbedToken
  state: VaultState
  /** A redemption was tried and gave back most of what it is worth, or, where it waits, took the shares. */
  canLeave: boolean
  /** Most assets one deposit may bring now; undefined where the vault states no limit that binds. */
  maxDeposit: bigint | undefined
  /** The loss of depositing one whole unit and redeeming it at once, in hundredths of a percent. */
  roundTripLossBps: number | undefined
  /** The vault's first block; undefined when the node keeps no old states. */
  startBlock: number | undefined
  /** Notes for the operator before listing it. */
  notes: string[]
}

/** The address is no vault we can list; the message says why. */
export class ProbeError extends Error {
  override readonly name = 'ProbeError'
}

/** Reads everything a catalogue entry needs from the vault at `address`. Throws a ProbeError if it is not a vault. */
export async function probeVault(chain: Chain, address: Address): Promise<ProbedVault> {
  const { head, found } = await probeVaults(chain, [address])
  const [probed] = found
  if (!probed || probed instanceof ProbeError) throw probed ?? new ProbeError(`${address} did not answer`)
  const firstBlocks = await findFirstBlocks(chain, [probed.address], head)
  return withStart(probed, firstBlocks.get(probed.address))
}

/** A probed vault and the block from which it is read, which is looked for apart: it takes more calls than all the rest. */
export function withStart(probed: ProbedVault, startBlock: number | undefined): ProbedVault {
  const notes = startBlock === undefined ? [...probed.notes, noOldStates] : probed.notes
  return { ...probed, startBlock, notes }
}

export const noOldStates = 'the node keeps no old states: set vault.startBlock by hand'

/** Reads that ask a contract who it is, in one call; where one burns the gas of the others they are asked again alone. */
const identitiesPerCall = 20

/**
 * The same for several vaults at one block, what is asked of all in few calls, but for their first blocks. Of an address
 * that is no vault the error says why.
 */
export async function probeVaults(
  chain: Chain,
  addresses: readonly Address[],
): Promise<{ head: number; found: (ProbedVault | ProbeError)[] }> {
  await assertReadable(chain)
  const head = await readHead(chain)
  const at = { blockHash: head.hash }
  const first = await askMany(chain, addresses.map(askIdentity), at, identitiesPerCall)
  const isSilent = (index: number) => {
    const answer = first[index]
    return answer === undefined || (answer.code.codeLength > 0n && !isRecognised(answer))
  }
  const silent = addresses.length === 1 ? [] : addresses.flatMap((_, index) => (isSilent(index) ? [index] : []))
  const again = await askMany(
    chain,
    silent.map((index) => askIdentity(addresses[index] ?? zeroAddress)),
    at,
    1,
  )
  for (const [place, index] of silent.entries()) first[index] = again[place]
  const ask: Ask = async (read) =>
    // A contract that makes the call fail answers nothing.
    (await askMany(chain, [read], at, 1))[0] ?? read.answer(read.reads.map(() => undefined))
  const named: (Named | ProbeError)[] = []
  for (const [index, address] of addresses.entries()) named.push(await nameVault(chain, ask, address, first[index]))
  const tokens = await askTokens(chain, named, at)
  const described = named.map((each) => {
    if (each instanceof ProbeError) return each
    try {
      return describeVault(chain, each, tokens)
    } catch (error) {
      if (error instanceof ProbeError) return error
      throw error
    }
  })
  const vaults = described.flatMap((each) => (each instanceof ProbeError ? [] : [each]))
  const states = await readVaultStates(
    chain,
    vaults.map(({ vault, kind }) => ({ ...vault, kind: kind.name })),
    head.hash,
  )
  const tried = vaults.flatMap((each, index) => {
    const state = states[index]
    return state ? [{ each, state, asked: { vault: each.vault, kind: each.kind, state, requests: true } }] : []
  })
  const tryable = tried.flatMap(({ asked }) => (asked.kind.plans?.trial ? [asked] : []))
  const outcomes = await tryVaults(chain, tryable, head)
  const probed = new Map<Described, ProbedVault>()
  for (const { each, state, asked } of tried)
    probed.set(each, await concludeVault(chain, each, { read: state, trial: outcomes[tryable.indexOf(asked)], head }))
  const found = described.map((each) =>
    each instanceof ProbeError ? each : (probed.get(each) ?? new ProbeError(`${each.vault.address} did not answer`)),
  )
  return { head: head.number, found }
}

/** Undefined where no node took a call with it alone. */
async function askMany<T>(
  chain: Chain,
  reads: readonly Read<T>[],
  at: { blockHash: string },
  perCall: number,
): Promise<(T | undefined)[]> {
  if (reads.length === 0) return []
  return (await multicallMany(chain, reads, at, perCall)).answers.map((each) => each?.answer)
}

type Identity = { code: { codeLength: bigint }; kinds: Record<string, Recognised | undefined>; hints: Hints }
type Named = { address: Address; kind: VaultKind; recognised: Recognised }
type Described = Named & { vault: Vault; asset: ProbedToken; receiptToken: ProbedToken }

function isRecognised({ kinds }: Identity): boolean {
  return vaultKinds.some(({ name }) => kinds[name] !== undefined)
}

async function nameVault(
  chain: Chain,
  ask: Ask,
  address: Address,
  answer: Identity | undefined,
): Promise<Named | ProbeError> {
  if (answer?.code.codeLength === 0n) return new ProbeError(`there is no contract at ${address} on ${chain.name}`)
  const found = answer && (await findKind(ask, answer))
  if (found) {
    const note = noteProduct(found.kind.name, answer.hints)
    const notes = [...(found.recognised.notes ?? []), ...(note ? [note] : [])]
    return { address, kind: found.kind, recognised: { ...found.recognised, notes } }
  }
  const shape = answer && (await findShape(ask, address, answer.hints))
  const kind = shape?.address && findVaultKind(shape.kind ?? 'other')
  if (shape?.address && kind) return { address: shape.address, kind, recognised: shape.recognised }
  if (shape && shape.address === undefined) return new ProbeError(shape.why)
  return new ProbeError(
    `${address} is no ERC-4626 vault, and no other kind that is known: it does not answer asset() and totalAssets()`,
  )
}

/** The last kind that knows the vault, where it holds by what else has to be asked. */
async function findKind(
  ask: Ask,
  { kinds }: Identity,
): Promise<{ kind: VaultKind; recognised: Recognised } | undefined> {
  for (const kind of [...vaultKinds].reverse()) {
    let found = kinds[kind.name]
    while (found?.next) found = await ask(found.next)
    if (found) return { kind, recognised: found }
  }
  return undefined
}

async function askTokens(
  chain: Chain,
  named: readonly (Named | ProbeError)[],
  at: { blockHash: string },
): Promise<ReadonlyMap<Address, TokenAnswer>> {
  const tokens = [
    ...new Set(
      named.flatMap((each) =>
        each instanceof ProbeError ? [] : [each.recognised.asset, each.recognised.receiptToken],
      ),
    ),
  ]
  const answered = await askMany(chain, tokens.map(askToken), at, identitiesPerCall)
  return new Map(tokens.flatMap((token, index) => (answered[index] ? [[token, answered[index]]] : [])))
}

const noToken: TokenAnswer = { symbol: '', name: '', decimals: undefined }

function describeVault(chain: Chain, named: Named, tokens: ReadonlyMap<Address, TokenAnswer>): Described {
  const { address, recognised } = named
  const asset = requireToken('asset', recognised.asset, tokens.get(recognised.asset) ?? noToken)
  const receiptToken = requireToken(
    'receipt token',
    recognised.receiptToken,
    tokens.get(recognised.receiptToken) ?? noToken,
  )
  const vault: Vault = {
    chainId: chain.chainId,
    address,
    asset: asset.address,
    assetDecimals: asset.decimals,
    receiptToken: receiptToken.address,
    receiptDecimals: receiptToken.decimals,
    contracts: recognised.contracts ?? {},
  }
  return { ...named, vault, asset, receiptToken }
}

/** Combines the reads and trials of a vault. */
async function concludeVault(
  chain: Chain,
  { address, kind, recognised, asset, receiptToken }: Described,
  { read, trial, head }: { read: VaultState; trial: Trial | undefined; head: Header },
): Promise<ProbedVault> {
  const { asyncDeposit } = kind
  const state = trial ? decideByTrial(read, trial) : read
  const roundTripLossBps =
    trial?.roundTrip || asyncDeposit || kind.plans === undefined
      ? computeLoss(trial?.roundTrip)
      : await readRoundTripLoss(chain, address, asset.decimals)
  const escrow = await findEscrow(chain, { address, kind, recognised, head })
  const { maxDeposit } = read
  // A vault that returns 0 and still takes a deposit states no limit.
  const unlimited = maxDeposit === undefined || maxDeposit >= 1n << 200n || (maxDeposit === 0n && state.depositOpen)
  return {
    address,
    kind: kind.name,
    contracts: recognised.contracts ?? {},
    escrow,
    asset,
    receiptToken,
    state,
    canLeave: trial?.withdraw?.works === true && (trial.roundTrip === undefined || givesBack(trial.roundTrip)),
    maxDeposit: asyncDeposit || unlimited ? undefined : maxDeposit,
    roundTripLossBps,
    startBlock: undefined,
    notes: listNotes({ state, trial, own: recognised.notes ?? [], roundTripLossBps }),
  }
}

/** The escrow that the vault names, or keeps in the slot of its kind; an address without code is not an escrow. */
async function findEscrow(
  chain: Chain,
  { address, kind, recognised, head }: { address: Address; kind: VaultKind; recognised: Recognised; head: Header },
): Promise<Address | undefined> {
  const named = recognised.escrow ?? (kind.escrowSlot && (await readSlot(chain, address, kind.escrowSlot, head)))
  if (!named || isAddressEqual(named, address) || isAddressEqual(named, zeroAddress)) return undefined
  const { answer } = await multicall(chain, readAccount(named), { blockHash: head.hash })
  return answer.codeLength > 0n ? named : undefined
}

async function readSlot(chain: Chain, address: Address, slot: Hex, head: Header): Promise<Address | undefined> {
  try {
    const params = [address, slot, toQuantity(head.number)]
    const word = answers.bytes.parse(await chain.rpc.request({ method: 'eth_getStorageAt', params }))
    return size(word) === 32 && BigInt(word) < 1n << 160n ? getAddress(slice(word, 12)) : undefined
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}

/** Throws what is wrong with the node in its own words: a wrong url, another chain, a refusal. */
async function assertReadable(chain: Chain): Promise<void> {
  try {
    await chain.rpc.request({ method: 'eth_chainId' })
  } catch (error) {
    throw error instanceof OutboundError ? new ProbeError(error.message, { cause: error }) : error
  }
}

/** Every kind is asked whether it knows the vault, all in one call. */
function askIdentity(address: Address) {
  const asked = vaultKinds.flatMap(({ name, recognise }) =>
    typeof recognise === 'string' ? [] : [[name, recognise(address)] as const],
  )
  const kinds: Read<Record<string, Recognised | undefined>> = combine(Object.fromEntries(asked))
  return combine({ code: readAccount(address), kinds, hints: askHints(address) })
}

type TokenAnswer = { symbol: string; name: string; decimals: number | undefined }

function askToken(address: Address): Read<TokenAnswer> {
  return mapRead(
    combine({
      decimals: readContract(address, erc20Abi, 'decimals', []),
      symbol: readContract(address, erc20Abi, 'symbol', []),
      name: readContract(address, erc20Abi, 'name', []),
      oldSymbol: readContract(address, bytesTextAbi, 'symbol', []),
      oldName: readContract(address, bytesTextAbi, 'name', []),
    }),
    ({ decimals, symbol, name, oldSymbol, oldName }) => ({
      decimals,
      symbol: symbol ?? readBytes32(oldSymbol),
      name: name ?? readBytes32(oldName),
    }),
  )
}

/** Old tokens return their texts as 32 bytes, padded with zeros. */
function readBytes32(bytes: `0x${string}` | undefined): string {
  return bytes ? Buffer.from(bytes.slice(2), 'hex').toString('utf8').replace(/\0+$/, '') : ''
}

function requireToken(what: string, address: Address, answer: TokenAnswer): ProbedToken {
  const { decimals, symbol, name } = answer
  if (decimals === undefined || decimals > 36)
    throw new ProbeError(`the ${what} ${address} does not say how many decimals it has, from 0 to 36`)
  return { address, symbol, name, decimals }
}

/** Whether at least half of a deposit comes back when it is redeemed at once; else it is not a vault. */
function givesBack({ paid, back }: NonNullable<Trial['roundTrip']>): boolean {
  return 2n * back >= paid
}

/** The loss of a deposit that was redeemed at once, in hundredths of a percent. */
function computeLoss(roundTrip: Trial['roundTrip']): number | undefined {
  if (!roundTrip || roundTrip.paid < 10_000n || roundTrip.back > roundTrip.paid) return undefined
  return Number(((roundTrip.paid - roundTrip.back) * 10_000n) / roundTrip.paid)
}

/** The same by the vault's own previews, for a deposit of one whole unit; undefined if they return nothing for an unknown wallet. */
async function readRoundTripLoss(chain: Chain, vault: Address, assetDecimals: number): Promise<number | undefined> {
  const paid = 10n ** BigInt(assetDecimals)
  const deposit = await multicall(chain, readContract(vault, erc4626Abi, 'previewDeposit', [paid]))
  if (!deposit.answer) return undefined
  const { answer: back } = await multicall(chain, readContract(vault, erc4626Abi, 'previewRedeem', [deposit.answer]))
  return back ? computeLoss({ paid, back }) : undefined
}

type Noted = Pick<ProbedVault, 'state' | 'roundTripLossBps'> & {
  own: readonly string[]
  trial: Trial | undefined
}

function listNotes({ state, trial, own, roundTripLossBps }: Noted): string[] {
  const notes: string[] = []
  const { deposit, withdraw } = trial ?? {}
  if (state.depositClosedReason)
    notes.push(
      `deposits: ${state.depositClosedReason}${deposit?.works === false ? ` One would revert ${deposit.why}.` : ''}`,
    )
  if (withdraw?.works === false)
    notes.push(
      `withdrawals would revert ${withdraw.why}: set withdrawEnabled to false with a reason, or do not list it`,
    )
  else if (state.withdrawClosedReason) notes.push(`withdrawals: ${state.withdrawClosedReason}`)
  else if (withdraw === undefined && deposit?.works !== false)
    notes.push('no redemption could be tried: make one with little money before you switch deposits on')
  if (trial?.roundTrip && !givesBack(trial.roundTrip)) notes.push('it gives back less than half of a deposit')
  if (state.figures === undefined) notes.push('the share price cannot be read: there will be no history')
  notes.push(...own)
  if (roundTripLossBps !== undefined && roundTripLossBps > 1)
    notes.push(`a deposit redeemed at once loses ${roundTripLossBps / 100} %: the vault takes a fee`)
  return notes
}
