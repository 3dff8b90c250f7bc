import { type Address, parseAbi } from 'viem'
import { readBlock } from '../rpc/blocks.js'
import type { Chain } from '../rpc/chains.js'
import { combine, mapRead, multicall, type Read, readAccount, readContract } from '../rpc/multicall.js'
import type { Header } from '../rpc/raw.js'
import type { FiguresAnswer, ObservedVault, VaultFigures } from './kind.js'
import { erc4626 } from './kinds/erc4626.js'
import { findVaultKind } from './kinds.js'

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

const pausableAbi = parseAbi(['function paused() view returns (bool)'])

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
  const identity = { code: readAccount(address), paused: readContract(address, pausableAbi, 'paused', []) }
  const answered = askFigures(vault)
  return mapRead(combine({ ...identity, answered }), ({ code, paused, answered }) => ({
    ...decideState(code.codeLength, paused),
    ...answered,
  }))
}

const noFigures: Read<FiguresAnswer> = { reads: [], answer: () => ({ figures: undefined, maxDeposit: undefined }) }

/** What is asked follows from the kind; nothing of one that is not indexed. */
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
