import { type Address, erc20Abi, erc4626Abi, parseAbi } from 'viem'
import { readBlock } from '../rpc/blocks.js'
import type { Chain } from '../rpc/chains.js'
import { combine, mapRead, multicall, type Read, readAccount, readContract } from '../rpc/multicall.js'
import type { Header } from '../rpc/raw.js'
import { erc5115 } from './kinds/erc5115.js'

/** A vault whose state is read. Addresses in any case. */
export type ObservedVault = {
  address: string
  receiptToken: string
  receiptDecimals: number
  /** The name of its kind; absent: one that answers as ERC-4626 does. */
  kind?: string
}

/** What a vault holds and what a share is worth, all at one block. */
export type VaultFigures = {
  totalAssets: bigint
  totalSupply: bigint
  /** `convertToAssets(10^priceExponent)`. */
  priceNumerator: bigint
  priceExponent: number
}

/** What a vault was seen to allow. The reasons are sentences, `''` where it is open. */
export type VaultState = {
  depositOpen: boolean
  withdrawOpen: boolean
  depositClosedReason: string
  withdrawClosedReason: string
  /** What it says one deposit may bring; many say 0 or nonsense, so it decides nothing. Undefined when it does not say. */
  maxDeposit: bigint | undefined
  /** Undefined when the vault does not answer all of them. */
  figures: VaultFigures | undefined
}

const rateAbi = parseAbi(['function exchangeRate() view returns (uint256)'])
const pausableAbi = parseAbi(['function paused() view returns (bool)'])

/** Asks for limits on behalf of a wallet that no vault has heard of: what it may do, anybody may. */
export const anybody: Address = '0x000000000000000000000000000000000000bEEF'

/** Digits beyond the share's own, so that a small change of a low-decimal asset's share price shows. */
const extraDigits = 12

/** Vaults in one call: creation code and reads must stay below the 48 KiB that nodes accept. */
const vaultsPerCall = 20

/**
 * Reads what every vault holds and allows, all at one block, in as few calls as nodes accept. A vault that answers
 * nothing sensible is closed and has no figures; a node that does not answer is a 503.
 */
export async function readVaultStates(
  chain: Pick<Chain, 'name' | 'rpc'>,
  vaults: readonly ObservedVault[],
  blockHash: string,
): Promise<VaultState[]> {
  const states: VaultState[] = []
  for (let at = 0; at < vaults.length; at += vaultsPerCall) {
    const batch = vaults.slice(at, at + vaultsPerCall)
    const reads = Object.fromEntries(batch.map((vault, index) => [String(index), askVault(vault)]))
    const { answer } = await multicall(chain, combine(reads), { blockHash })
    for (let index = 0; index < batch.length; index++) {
      const state = answer[String(index)]
      if (state) states.push(state)
    }
  }
  return states
}

function askVault(vault: ObservedVault): Read<VaultState> {
  const address = vault.address as Address
  const fine = vault.receiptDecimals + extraDigits
  const price = (exponent: number) => readContract(address, erc4626Abi, 'convertToAssets', [10n ** BigInt(exponent)])
  const identity = { code: readAccount(address), paused: readContract(address, pausableAbi, 'paused', []) }
  if (vault.kind === erc5115.name)
    return mapRead(
      combine({
        ...identity,
        totalSupply: readContract(vault.receiptToken as Address, erc20Abi, 'totalSupply', []),
        rate: readContract(address, rateAbi, 'exchangeRate', []),
      }),
      ({ code, paused, totalSupply, rate }) => ({
        ...decideState(code.codeLength, paused),
        maxDeposit: undefined,
        figures: totalSupply === undefined || rate === undefined ? undefined : computeByRate(totalSupply, rate, fine),
      }),
    )
  return mapRead(
    combine({
      ...identity,
      maxDeposit: readContract(address, erc4626Abi, 'maxDeposit', [anybody]),
      totalAssets: readContract(address, erc4626Abi, 'totalAssets', []),
      totalSupply: readContract(vault.receiptToken as Address, erc20Abi, 'totalSupply', []),
      finePrice: price(fine),
      coarsePrice: price(vault.receiptDecimals),
    }),
    ({ code, paused, maxDeposit, totalAssets, totalSupply, finePrice, coarsePrice }) => {
      const priceNumerator = finePrice ?? coarsePrice
      const complete = totalAssets !== undefined && totalSupply !== undefined && priceNumerator !== undefined
      const priceExponent = finePrice === undefined ? vault.receiptDecimals : fine
      return {
        ...decideState(code.codeLength, paused),
        maxDeposit,
        figures: complete ? { totalAssets, totalSupply, priceNumerator, priceExponent } : undefined,
      }
    },
  )
}

/** ERC-5115: `exchangeRate × shares / 10^18` is in smallest units of the asset. */
function computeByRate(totalSupply: bigint, rate: bigint, priceExponent: number): VaultFigures {
  const value = (shares: bigint) => (shares * rate) / 10n ** 18n
  return {
    totalAssets: value(totalSupply),
    totalSupply,
    priceNumerator: value(10n ** BigInt(priceExponent)),
    priceExponent,
  }
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

/**
 * The last block whose time is at or before `atSeconds`, by halving; undefined when even the first block is later.
 * Starts from `head` and walks back in growing steps, as the instant asked for is usually near.
 */
export async function findBlockAt(
  chain: Pick<Chain, 'name' | 'rpc'>,
  head: Header,
  atSeconds: number,
): Promise<Header | undefined> {
  if (head.timestamp <= atSeconds) return head
  let late = head.number
  let early: Header | undefined
  for (let step = 1; early === undefined; step *= 4) {
    if (late === 0) return undefined
    const block = await readBlock(chain, Math.max(0, late - step))
    if (block.timestamp <= atSeconds) early = block
    else late = block.number
  }
  while (late - early.number > 1) {
    const block: Header = await readBlock(chain, Math.floor((late + early.number) / 2))
    if (block.timestamp <= atSeconds) early = block
    else late = block.number
  }
  return early
}
