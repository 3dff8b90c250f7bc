import { proberAbi, proberDeployedBytecode } from '@openearn/contracts'
import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  size,
  slice,
  zeroAddress,
} from 'viem'
import { type Chain, readingChain } from '../rpc/chains.js'
import type { Header } from '../rpc/raw.js'
import { describeRevert } from '../rpc/revert.js'
import { callAs, getNextBlock, type Overrides } from '../rpc/simulate.js'
import { findBalanceOverrides, writtenBalance } from './balanceSlots.js'
import type { Vault, VaultKind } from './kind.js'
import { listErrors } from './kinds.js'
import { anybody } from './reading.js'
import type { VaultState } from './snapshots.js'

export type TriedVault = {
  vault: Vault
  /** Sides it makes wait are not tried. */
  kind: VaultKind
  /** What it was read to hold and allow; only sizes what is tried. */
  state: Pick<VaultState, 'maxDeposit' | 'figures'>
}

/** Undefined: nothing could be concluded. */
export type Outcome = { works: true } | { works: false; why: string } | undefined

export type Trial = {
  deposit: Outcome
  withdraw: Outcome
  /** What was deposited, and what its redemption at once gave back; undefined unless both worked. */
  roundTrip: { paid: bigint; back: bigint } | undefined
}

const nothing: Trial = { deposit: undefined, withdraw: undefined, roundTrip: undefined }

/** Vaults in one call: each may need millions of gas, and nodes stop at fifty. */
const vaultsPerCall = 4

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
  for (let at = 0; at < vaults.length; at += vaultsPerCall) {
    const batch = vaults.slice(at, at + vaultsPerCall)
    const tokens = [...new Set(batch.flatMap(({ vault }) => [vault.asset, vault.receiptToken]))]
    const balances = await findBalanceOverrides(chain, anybody, tokens, { blockHash: block.hash })
    trials.push(...(await tryBatch(chain, batch, balances, block)))
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

type Ask = ReturnType<typeof toAsk>
type Try = { made: boolean; success: boolean; given: bigint; returned: Hex }
type Found = { deposit: Try; redeemOfDeposit: Try; redeemOfShares: Try }

function toAsk({ vault, kind, state }: TriedVault, balances: Balances, amount: bigint) {
  const trial = kind.plans?.trial?.(vault, anybody, amount)
  const deposits = trial !== undefined && !kind.asyncDeposit && balances.has(vault.asset)
  const redeems = trial !== undefined && !kind.asyncRedeem
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
    shares: redeems && balances.has(vault.receiptToken) ? getShares(vault, state) : 0n,
  } as const
}

function getUnit({ assetDecimals }: Vault): bigint {
  return 10n ** BigInt(assetDecimals)
}

/** One unit, or what room there is where that is less. */
function getSmallAmount({ vault, state: { maxDeposit } }: TriedVault): bigint {
  return getLeast(getUnit(vault), writtenBalance, maxDeposit ? maxDeposit : writtenBalance)
}

/** Shares worth one unit, and never more than there are. */
function getShares(vault: Vault, { figures }: TriedVault['state']): bigint {
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
    // A node that ignores overrides answers for a wallet without code.
    return undefined
  }
}

function readTrial({ kind }: TriedVault, ask: Ask | undefined, found: Found | undefined): Trial {
  if (!ask || !found) return nothing
  const { deposit, redeemOfDeposit, redeemOfShares } = found
  const describe = ({ returned }: Try) => describeRevert(returned, listErrors(kind))
  const redeemed = [redeemOfDeposit, redeemOfShares].filter(({ made }) => made)
  const failed = redeemed.at(-1)
  const back = size(redeemOfDeposit.returned) >= 32 ? hexToBigInt(slice(redeemOfDeposit.returned, 0, 32)) : undefined
  return {
    deposit: readDeposit(deposit, describe),
    withdraw: redeemed.some(({ success }) => success)
      ? { works: true }
      : failed && { works: false, why: describe(failed) },
    roundTrip: redeemOfDeposit.success && back !== undefined ? { paid: ask.amount, back } : undefined,
  }
}

/** A deposit that gave nothing tells nothing: what it was made to may be no vault. */
function readDeposit(deposit: Try, describe: (tried: Try) => string): Outcome {
  if (!deposit.made) return undefined
  if (!deposit.success) return { works: false, why: describe(deposit) }
  return deposit.given > 0n ? { works: true } : undefined
}

/** What a vault allows, by what was tried; as it was read where nothing could be concluded. */
export function decideByTrial(state: VaultState, { deposit, withdraw }: Trial): VaultState {
  const { figures, maxDeposit, ...read } = state
  return {
    figures,
    maxDeposit,
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
