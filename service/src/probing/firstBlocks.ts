import { type Address, concatHex, type Hex, numberToHex, size } from 'viem'
import type { Chain } from '../rpc/chains.js'
import { RpcError } from '../rpc/rpc.js'
import { answers, toQuantity } from '../rpc/wire.js'

/** Between which blocks a contract came: `without` has no code of it, -1 is before all; `withCode` has. */
export type Bounds = { without: number; withCode: number }

/** The most halvings: of a chain of many millions of blocks a few hundred are left. */
const halvingsMax = 17

/** Addresses in one call; nodes bound the length of what runs. */
const addressesPerCall = 500

export type FirstBlocks = {
  /** Where a search that was interrupted stood. */
  known?: ReadonlyMap<Address, Bounds>
  /** Halvings at most, from the whole chain on; absent: to the block itself. */
  halvings?: number
  /** Called after each halving with what has changed. */
  record?(bounds: ReadonlyMap<Address, Bounds>): Promise<void>
}

/** Halvings for vaults that are searched together. */
export const fewHalvings = halvingsMax

/**
 * The first block with code at each address, all searched together: addresses whose middle is the same block share a call.
 * With few halvings it is a block shortly before, from which on nothing is missed. Undefined where the node keeps no old
 * states.
 */
export async function findFirstBlocks(
  chain: Pick<Chain, 'rpc'>,
  addresses: readonly Address[],
  head: number,
  { known, halvings, record }: FirstBlocks = {},
): Promise<Map<Address, number | undefined>> {
  const whole: Bounds = { without: -1, withCode: head }
  const bounds = new Map(addresses.map((address) => [address, known?.get(address) ?? whole]))
  const widest = halvings === undefined ? 1 : Math.max(1, Math.ceil((head + 1) / 2 ** halvings))
  const silent = new Set<Address>()
  for (;;) {
    const open = [...bounds].filter(
      ([address, { without, withCode }]) => !silent.has(address) && withCode - without > widest,
    )
    if (open.length === 0) break
    const byBlock = new Map<number, Address[]>()
    for (const [address, { without, withCode }] of open) {
      const middle = Math.floor((withCode + without) / 2)
      byBlock.set(middle, [...(byBlock.get(middle) ?? []), address])
    }
    const changed = new Map<Address, Bounds>()
    for (const [middle, asked] of byBlock) {
      const has = await readHasCode(chain, asked, middle)
      for (const [at, address] of asked.entries()) {
        if (!has) silent.add(address)
        else changed.set(address, { ...(bounds.get(address) ?? whole), [has[at] ? 'withCode' : 'without']: middle })
      }
    }
    for (const [address, found] of changed) bounds.set(address, found)
    await record?.(changed)
  }
  return new Map(
    [...bounds].map(([address, { without, withCode }]) => [
      address,
      silent.has(address) ? undefined : withCode - without === 1 ? withCode : without + 1,
    ]),
  )
}

/** Which addresses had code at a block; undefined where the node does not know so old a state. */
async function readHasCode(
  chain: Pick<Chain, 'rpc'>,
  addresses: readonly Address[],
  block: number,
): Promise<boolean[] | undefined> {
  const found: boolean[] = []
  try {
    for (let at = 0; at < addresses.length; at += addressesPerCall) {
      const asked = addresses.slice(at, at + addressesPerCall)
      const params = [{ data: buildCodeProgram(asked) }, toQuantity(block)]
      const answer = answers.bytes.parse(await chain.rpc.request({ method: 'eth_call', params }))
      if (size(answer) !== asked.length) return undefined
      found.push(...asked.map((_, index) => answer.slice(2 + 2 * index, 4 + 2 * index) === '01'))
    }
    return found
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}

/**
 * Creation code that returns one byte for each address: 1 if it has code. Written by hand with instructions that every block of a
 * chain supports: compiled code uses newer ones.
 */
function buildCodeProgram(addresses: readonly Address[]): Hex {
  // PUSH20 address, EXTCODESIZE, ISZERO, ISZERO, PUSH2 place, MSTORE8
  const each = addresses.map((address, at) =>
    concatHex(['0x73', address, '0x3b1515', '0x61', numberToHex(at, { size: 2 }), '0x53']),
  )
  // PUSH2 length, PUSH1 0, RETURN
  return concatHex([...each, '0x61', numberToHex(addresses.length, { size: 2 }), '0x6000f3'])
}
