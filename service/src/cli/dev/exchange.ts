import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  maxUint256,
  numberToHex,
  parseEther,
  parseUnits,
} from 'viem'
import type { DevChain } from './anvil.js'
import { waitForReceipt } from './receipt.js'

/** Uniswap V2 and V3 on the devnet, with the token they wrap the native one into. */
export type DevExchange = {
  wrappedNative: Address
  v2: { factory: Address; router: Address }
  v3: { factory: Address; router: Address; quoter: Address; fees: number[] }
}

/** USD of one wrapped native token. */
export const nativeUsd = '3000'
/** USD on each side of a pool. */
const poolUsd = 300_000n
const poolFee = 3_000
const spacing = 60
const lastTick = 887_272 - (887_272 % spacing)
const farAway = 10_000_000_000n
/** Not estimated: several calls are mined in one block. */
const deployGas = 6_000_000n
const callGas = 600_000n

type Contract = { abi: Abi; bytecode: Hex }
type Pooled = { address: Address; decimals: number; priceUsd: string }
type Sent = { to?: Address; data: Hex; value?: bigint; gas?: bigint }

type V3Name = 'v3Factory' | 'v3Router' | 'v3Quoter' | 'v3Positions'

/** The contracts from their npm packages; undefined if these are not installed for the program at `from`. */
export function readExchange(
  from: string = import.meta.url,
): Record<'wrapped' | 'v2Factory' | 'v2Router' | V3Name, Contract> | undefined {
  const { resolve } = createRequire(from)
  const read = (path: string): Contract => {
    const { abi, bytecode } = JSON.parse(readFileSync(resolve(`@uniswap/${path}`), 'utf8'))
    return { abi, bytecode: bytecode.startsWith('0x') ? bytecode : `0x${bytecode}` }
  }
  const periphery = 'v3-periphery/artifacts/contracts'
  try {
    return {
      wrapped: read('v2-periphery/build/WETH9.json'),
      v2Factory: read('v2-core/build/UniswapV2Factory.json'),
      v2Router: read('v2-periphery/build/UniswapV2Router02.json'),
      v3Factory: read('v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json'),
      v3Router: read(`${periphery}/SwapRouter.sol/SwapRouter.json`),
      v3Quoter: read(`${periphery}/lens/QuoterV2.sol/QuoterV2.json`),
      v3Positions: read(`${periphery}/NonfungiblePositionManager.sol/NonfungiblePositionManager.json`),
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/**
 * Deploys the published exchanges and fills a pool of each between every two tokens, the wrapped native one among them,
 * at the prices the devnet has; undefined where the packages are not installed. `mint` is the call that makes tokens.
 */
export async function deployExchange(
  chain: DevChain,
  owner: Address,
  tokens: readonly Pooled[],
  mint: (token: Pooled, amount: bigint) => Sent,
): Promise<DevExchange | undefined> {
  const published = readExchange()
  if (!published) return undefined
  const { client, request } = chain
  let nonce = await client.getTransactionCount({ address: owner })
  const hashes: Hex[] = []
  const send = async ({ to, data, value = 0n, gas = callGas }: Sent): Promise<Address> => {
    const call = { from: owner, ...(to ? { to } : {}), data, value: numberToHex(value), gas: numberToHex(gas) }
    hashes.push((await request('eth_sendTransaction', [{ ...call, nonce: numberToHex(nonce) }])) as Hex)
    return getContractAddress({ from: owner, nonce: BigInt(nonce++) })
  }
  const deploy = ({ abi, bytecode }: Contract, args: unknown[]) =>
    send({ data: encodeDeployData({ abi, bytecode, args } as never), gas: deployGas })
  const call = (to: Address, { abi }: Contract, functionName: string, args: unknown[], gas = callGas) =>
    send({ to, data: encodeFunctionData({ abi, functionName, args } as never), gas })

  const wrappedNative = await deploy(published.wrapped, [])
  const v2Factory = await deploy(published.v2Factory, [owner])
  const v2Router = await deploy(published.v2Router, [v2Factory, wrappedNative])
  const v3Factory = await deploy(published.v3Factory, [])
  const v3Router = await deploy(published.v3Router, [v3Factory, wrappedNative])
  const quoter = await deploy(published.v3Quoter, [v3Factory, wrappedNative])
  const positions = await deploy(published.v3Positions, [v3Factory, wrappedNative, wrappedNative])

  const wrapped: Pooled = { address: wrappedNative, decimals: 18, priceUsd: nativeUsd }
  const pooled = [wrapped, ...tokens]
  const amountOf = ({ decimals, priceUsd }: Pooled) => parseUnits(String(poolUsd), decimals) / BigInt(priceUsd)
  await send({ to: wrappedNative, data: encodeWrap(published.wrapped), value: parseEther('2000') })
  for (const token of tokens) await send(mint(token, amountOf(token) * 2n * BigInt(tokens.length)))
  for (const { address } of pooled)
    for (const spender of [v2Router, positions])
      await call(address, published.wrapped, 'approve', [spender, maxUint256])

  for (const [at, a] of pooled.entries())
    for (const b of pooled.slice(at + 1)) {
      const sides = [a, b].map((token) => ({ token: token.address, amount: amountOf(token) }))
      const [first, second] = sides.sort((one, other) => (one.token.toLowerCase() < other.token.toLowerCase() ? -1 : 1))
      if (!first || !second) continue
      const v2Args = [first.token, second.token, first.amount, second.amount, 0n, 0n, owner, farAway]
      await call(v2Router, published.v2Router, 'addLiquidity', v2Args, deployGas)
      const price = squareRoot((second.amount << 192n) / first.amount)
      const poolArgs = [first.token, second.token, poolFee, price]
      await call(positions, published.v3Positions, 'createAndInitializePoolIfNecessary', poolArgs, deployGas)
      const range = { tickLower: -lastTick, tickUpper: lastTick, amount0Min: 0n, amount1Min: 0n }
      const amounts = { amount0Desired: first.amount, amount1Desired: second.amount }
      const pair = { token0: first.token, token1: second.token, fee: poolFee }
      const given = { ...pair, ...range, ...amounts, recipient: owner, deadline: farAway }
      await call(positions, published.v3Positions, 'mint', [given], 2n * callGas)
    }
  for (const hash of hashes) await waitForReceipt(client, hash)
  const v3 = { factory: v3Factory, router: v3Router, quoter, fees: [poolFee] }
  return { wrappedNative, v2: { factory: v2Factory, router: v2Router }, v3 }
}

const encodeWrap = ({ abi }: Contract) => encodeFunctionData({ abi, functionName: 'deposit' })

/** The largest integer whose square is not above. */
function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1)
  for (let next = (root + value / root) >> 1n; next < root; next = (root + value / root) >> 1n) root = next
  return root
}
