import { proberAbi, proberDeployedBytecode } from '@openearn/contracts'
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { type Chain, readingChain } from '../rpc/chains.js'
import { combineAll, multicall } from '../rpc/multicall.js'
import type { Header } from '../rpc/raw.js'
import { describeRevert } from '../rpc/revert.js'
import { callAs, getNextBlock, type Overrides } from '../rpc/simulate.js'
import type { Vault, VaultKind, VaultState } from '../vaults/index.js'
import { anybody, listErrors } from '../vaults/index.js'
import { findBalanceOverrides, writtenBalance } from './balanceSlots.js'

export type TriedVault = {
  vault: Vault
  /** Deposits it makes wait are not tried. */
  kind: VaultKind
  /** Redemptions it makes wait are asked for, and seen to take the shares. */
  requests?: boolean
  /** Its figures and limits as read; used only to size the trial. */
  state: Pick<VaultState, 'maxDeposit' | 'figures'>
}

/** Undefined: nothing could be concluded. */
export type Outcome = { works: true } | { works: false; why: string } | undefined

export type Trial = {
  deposit: Outcome
  withdraw: Outcome
  /** The deposited amount and the amount that its immediate redemption returned; undefined unless both worked. */
  roundTrip: { paid: bigint; back: bigint } | undefined
}

const nothing: Trial = { deposit: undefined, withdraw: undefined, roundTrip: undefined }

/** Vaults in one call: each may need millions of gas, and nodes stop at fifty. */
const vaultsPerCall = 4

/** Vaults whose tokens are asked in one call where they keep balances. */
const vaultsPerLook = 32

/** Some vaults take no deposit as small as one unit; where that reverts, this many are tried. */
const manyUnits = 10_000n

/**
 * Deposits into every vault and redeems again, as a wallet that no vault has heard of, in a block of its own after
 * `block`, without sending anything. The wallet gets its tokens and shares by state override; where their place is not
 * found, the node takes no overrides, or the kind waits on that side, nothing is concluded.
 */
export async function tryVaults(
  chain: Pick<Chain, 'name' | 'rpc' | 'chainId'>,
  vaults: readonly TriedVault[],
  block: Header,
): Promise<Trial[]> {
  const trials: Trial[] = []
  let balances: Balances = new Map()
  for (let at = 0; at < vaults.length; at += vaultsPerCall) {
    if (at % vaultsPerLook === 0) {
      const looked = vaults.slice(at, at + vaultsPerLook)
      const tokens = [...new Set(looked.flatMap(({ vault }) => [vault.asset, vault.receiptToken]))]
      balances = await findBalanceOverrides(chain, anybody, tokens, { blockHash: block.hash })
    }
    const batch = vaults.slice(at, at + vaultsPerCall)
    const own = new Set(batch.flatMap(({ vault }) => [vault.asset, vault.receiptToken]))
    const written = new Map([...balances].filter(([token]) => own.has(token)))
    trials.push(...(await tryBatch(chain, batch, written, block)))
  }
  return trials
}

type Balances = ReadonlyMap<Address, Overrides[Address]>

async function tryBatch(
  chain: Pick<Chain, 'name' | 'rpc'>,
  batch: readonly TriedVault[],
  balances: Balances,
  block: Header,
): Promise<Trial[]> {
  const asks = batch.map((tried) => toAsk(tried, balances, getSmallAmount(tried)))
  const first = await runProber(chain, asks, balances, block)
  const trials = batch.map((tried, i) => readTrial(tried, asks[i], first?.[i]))
  await tryOtherWays(chain, { batch, asks, trials }, balances, block)
  const again = batch.flatMap((tried, i) => {
    const { maxDeposit } = tried.state
    const amount = getUnit(tried.vault) * manyUnits
    const room = !maxDeposit || maxDeposit >= amount
    return trials[i]?.deposit?.works === false && room && amount <= writtenBalance ? [{ i, tried, amount }] : []
  })
  if (again.length === 0) return trials
  const larger = again.map(({ tried, amount }) => toAsk(tried, balances, amount))
  const second = await runProber(chain, larger, balances, block)
  for (const [at, { i, tried }] of again.entries()) {
    const trial = readTrial(tried, larger[at], second?.[at])
    if (trial.deposit?.works) trials[i] = trial
  }
  return trials
}

/** Where the first way out of a vault does not work, the others of its kind are tried. */
async function tryOtherWays(
  chain: Pick<Chain, 'name' | 'rpc'>,
  { batch, asks, trials }: { batch: readonly TriedVault[]; asks: readonly Ask[]; trials: Trial[] },
  balances: Balances,
  block: Header,
): Promise<void> {
  const all = batch.flatMap((tried, i) => {
    const ask = asks[i]
    if (!ask || trials[i]?.withdraw?.works !== false) return []
    const ways = tried.kind.plans?.trial?.(tried.vault, anybody, 0n).instead ?? []
    return ways.map(({ to, data, gains = zeroAddress, onlyIf }) => ({
      ...{ i, tried, onlyIf },
      ask: { ...ask, redeemsAt: to, redeem: data, pays: gains },
    }))
  })
  if (all.length === 0) return
  const at = { blockHash: block.hash }
  const { answer } = await multicall(chain, combineAll(all.map(({ onlyIf }) => onlyIf)), at)
  const others = all.filter((_, index) => answer[index])
  if (others.length === 0) return
  const other = others.map(({ ask }) => ask)
  const found = await runProber(chain, other, balances, block)
  for (const [place, { i, tried, ask }] of others.entries()) {
    const trial = readTrial(tried, ask, found?.[place])
    if (trial.withdraw?.works) trials[i] = { ...trial, deposit: trials[i]?.deposit }
  }
}

type Ask = ReturnType<typeof toAsk>
type Try = { made: boolean; success: boolean; given: bigint; taken: bigint; returned: Hex }
type Found = { deposit: Try; redeemOfDeposit: Try; redeemOfShares: Try }

function toAsk({ vault, kind, state, requests }: TriedVault, balances: Balances, amount: bigint) {
  const trial = kind.plans?.trial?.(vault, anybody, amount)
  const deposits = trial !== undefined && !kind.asyncDeposit && balances.has(vault.asset)
  const redeems = trial !== undefined && (!kind.asyncRedeem || requests === true)
  return {
    spender: kind.plans?.spender(vault) ?? vault.address,
    asset: deposits ? vault.asset : zeroAddress,
    amount,
    depositsAt: trial?.deposit.to ?? vault.address,
    deposit: trial?.deposit.data ?? '0x',
    share: vault.receiptToken,
    redeemsAt: trial?.redeem.to ?? vault.address,
    redeem: redeems ? trial.redeem.data : '0x',
    sharesAt: trial?.sharesAt ?? 0n,
    pays: trial?.redeem.gains ?? zeroAddress,
    shares: redeems && balances.has(vault.receiptToken) ? getShares(vault, state, kind.asyncRedeem) : 0n,
  } as const
}

function getUnit({ assetDecimals }: Vault): bigint {
  return 10n ** BigInt(assetDecimals)
}

/** One unit, or what room there is where that is less. */
function getSmallAmount({ vault, state: { maxDeposit } }: TriedVault): bigint {
  return getLeast(getUnit(vault), writtenBalance, maxDeposit ? maxDeposit : writtenBalance)
}

/** Shares worth one unit, at most the supply. For a vault that only takes a request: one share if the supply is 0. */
function getShares(vault: Vault, { figures }: TriedVault['state'], isAsked: boolean): bigint {
  if (isAsked && (!figures || figures.totalSupply === 0n))
    return getLeast(10n ** BigInt(vault.receiptDecimals), writtenBalance)
  if (!figures || figures.priceNumerator === 0n) return 0n
  const shares = (getUnit(vault) * 10n ** BigInt(figures.priceExponent)) / figures.priceNumerator
  return getLeast(shares, figures.totalSupply, writtenBalance)
}

function getLeast(...amounts: [bigint, ...bigint[]]): bigint {
  let [least] = amounts
  for (const amount of amounts) if (amount < least) least = amount
  return least
}

async function runProber(
  chain: Pick<Chain, 'name' | 'rpc'>,
  asks: readonly Ask[],
  balances: Balances,
  block: Header,
): Promise<readonly Found[] | undefined> {
  const overrides: Overrides = { ...Object.fromEntries(balances), [anybody]: { code: proberDeployedBytecode } }
  const data = encodeFunctionData({ abi: proberAbi, functionName: 'probe', args: [[...asks]] })
  const inBlock = getNextBlock(block)
  const call = { wallet: anybody, data, overrides, at: { blockHash: block.hash } }
  const answer = await readingChain(
    chain,
    async () => (await callAs(chain, { ...call, inBlock })) ?? (await callAs(chain, call)),
  )
  if (answer === undefined) return undefined
  try {
    return decodeFunctionResult({ abi: proberAbi, functionName: 'probe', data: answer })
  } catch {
    // A node that ignores overrides runs the wallet without code.
    return undefined
  }
}

function readTrial({ kind }: TriedVault, ask: Ask | undefined, found: Found | undefined): Trial {
  if (!ask || !found) return nothing
  const { deposit, redeemOfDeposit, redeemOfShares } = found
  const describe = ({ returned }: Try) => describeRevert(returned, listErrors(kind))
  const redeemed = [redeemOfDeposit, redeemOfShares].filter(({ made }) => made)
  const isPaid = ask.pays !== zeroAddress
  // The vault's return value is only its word; the change of the wallet's balance is a fact.
  const works = ({ success, given, taken }: Try) => success && (isPaid ? given > 0n : taken > 0n)
  const failed = redeemed.at(-1)
  const unmoved = isPaid ? 'with nothing paid' : 'with no shares taken'
  const { given: back } = redeemOfDeposit
  return {
    deposit: readDeposit(deposit, describe),
    withdraw: redeemed.some(works)
      ? { works: true }
      : failed && { works: false, why: failed.success ? unmoved : describe(failed) },
    roundTrip: isPaid && works(redeemOfDeposit) ? { paid: deposit.taken, back } : undefined,
  }
}

/** A deposit that took nothing and returned nothing proves nothing: the address may not be a vault. */
function readDeposit(deposit: Try, describe: (tried: Try) => string): Outcome {
  if (!deposit.made) return undefined
  if (!deposit.success) return { works: false, why: describe(deposit) }
  if (deposit.given > 0n) return { works: true }
  return deposit.taken > 0n ? { works: false, why: 'with the tokens taken and no shares given' } : undefined
}

/** The capability of a vault by its trial; as read if the trial was not conclusive. */
export function decideByTrial(state: VaultState, { deposit, withdraw }: Trial): VaultState {
  const { figures, maxDeposit, ...read } = state
  return {
    ...{ figures, maxDeposit, depositAtOnce: read.depositAtOnce, withdrawAtOnce: read.withdrawAtOnce },
    depositOpen: deposit?.works ?? read.depositOpen,
    depositClosedReason: decideReason(deposit, read.depositClosedReason, 'The vault takes no deposits at present.'),
    withdrawOpen: withdraw?.works ?? read.withdrawOpen,
    withdrawClosedReason: decideReason(
      withdraw,
      read.withdrawClosedReason,
      'The vault allows no withdrawals at present.',
    ),
  }
}

function decideReason(outcome: Outcome, read: string, closed: string): string {
  if (outcome === undefined) return read
  return outcome.works ? '' : read || closed
}
