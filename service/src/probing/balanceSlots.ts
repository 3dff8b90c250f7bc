import { proberAbi, proberDeployedBytecode } from '@openearn/contracts'
import {
  type Address,
  concat,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  toHex,
} from 'viem'
import { type Chain, readingChain } from '../rpc/chains.js'
import type { At } from '../rpc/multicall.js'
import { callAs, type Overrides } from '../rpc/simulate.js'

/** Where a token keeps what a wallet has, found by writing a number of its own into every likely place at once. */
type Layout = (wallet: Address) => Hex

const mapping =
  (index: bigint): Layout =>
  (wallet) =>
    keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [wallet, index]))

/** Vyper hashes slot and key the other way round. */
const vyperMapping =
  (index: bigint): Layout =>
  (wallet) =>
    keccak256(encodeAbiParameters([{ type: 'uint256' }, { type: 'address' }], [index, wallet]))

/** ERC-7201, as OpenZeppelin's upgradeable tokens use it. */
const namespaced: Layout = mapping(0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n)

/** Solady's tokens hash the wallet and a seed. */
const seeded: Layout = (wallet) => keccak256(concat([wallet, pad(toHex(0x87a211a2), { size: 12 })]))

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => BigInt(from + i))

const layouts: readonly Layout[] = [
  namespaced,
  seeded,
  ...[...range(0, 64), 101n, 102n, 103n, 151n, 201n, 202n, 203n, 251n].map(mapping),
  ...range(0, 16).map(vyperMapping),
]

/** The written balance: 10^24 plus the number of the slot. It also fits balances that tokens pack with other members. */
export const writtenBalance = 10n ** 24n

/** The places found, by chain and token; each is looked at again before it is used. */
const known = new Map<string, number>()

/** Overrides that give the wallet `writtenBalance` of a token and a little more; tokens whose place is not found are absent. */
export async function findBalanceOverrides(
  chain: Pick<Chain, 'name' | 'rpc' | 'chainId'>,
  wallet: Address,
  tokens: readonly Address[],
  at: At,
): Promise<Map<Address, Overrides[Address]>> {
  const found = new Map<Address, Overrides[Address]>()
  const keyOf = (token: Address) => `${chain.chainId}:${token.toLowerCase()}`
  const everywhere = layouts.map((_, index) => index)
  const look = async (asked: readonly Address[], indexesOf: (token: Address) => readonly number[]) => {
    const held = await readBalances(chain, wallet, asked, indexesOf, at)
    for (const [i, token] of asked.entries()) {
      const index = held === undefined ? -1 : Number((held[i] ?? 0n) - writtenBalance)
      if (!indexesOf(token).includes(index)) continue
      known.set(keyOf(token), index)
      found.set(token, { stateDiff: write(wallet, [index]) })
    }
  }
  const before = tokens.filter((token) => known.has(keyOf(token)))
  if (before.length > 0) await look(before, (token) => [known.get(keyOf(token)) ?? 0])
  const others = tokens.filter((token) => !found.has(token))
  if (others.length > 0) await look(others, () => everywhere)
  return found
}

async function readBalances(
  chain: Pick<Chain, 'name' | 'rpc'>,
  wallet: Address,
  tokens: readonly Address[],
  indexesOf: (token: Address) => readonly number[],
  at: At,
): Promise<readonly bigint[] | undefined> {
  const overrides: Overrides = { [wallet]: { code: proberDeployedBytecode } }
  for (const token of tokens) overrides[token] = { stateDiff: write(wallet, indexesOf(token)) }
  const data = encodeFunctionData({ abi: proberAbi, functionName: 'balances', args: [[...tokens]] })
  const answer = await readingChain(chain, () => callAs(chain, { wallet, data, overrides, at }))
  if (answer === undefined) return undefined
  try {
    return decodeFunctionResult({ abi: proberAbi, functionName: 'balances', data: answer })
  } catch {
    // A node that ignores overrides runs the wallet without code.
    return undefined
  }
}

function write(wallet: Address, indexes: readonly number[]): Record<Hex, Hex> {
  const word = (index: number) => numberToHex(writtenBalance + BigInt(index), { size: 32 })
  return Object.fromEntries(
    indexes.flatMap((index) => {
      const layout = layouts[index]
      return layout ? [[layout(wallet), word(index)]] : []
    }),
  )
}
