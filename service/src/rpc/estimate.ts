import { type Address, type Hex, numberToHex } from 'viem'
import { type Chain, readingChain } from './chains.js'
import { requestRead } from './multicall.js'
import { RpcError } from './rpc.js'
import type { Call } from './simulateBlock.js'
import { answers } from './wire.js'

/** An address that runs nothing: a transaction to it costs its calldata, and what the chain adds to that. */
const nobody: Address = '0x000000000000000000000000000000000000dEaD'

/**
 * What the node says a transaction needs, and what one with the same calldata needs that runs nothing. Undefined where
 * the node refuses: a call after an approval that is not mined yet reverts.
 */
export async function estimateGas(
  chain: Pick<Chain, 'name' | 'rpc'>,
  wallet: Address,
  { to, data, value }: Call,
): Promise<{ whole: bigint | undefined; bare: bigint | undefined }> {
  const [whole, bare] = await readingChain(chain, () =>
    Promise.all([
      askEstimate(chain, { from: wallet, to, data, value: numberToHex(value) }),
      askEstimate(chain, { from: wallet, to: nobody, data, value: '0x0' }),
    ]),
  )
  return { whole, bare }
}

/** What a unit of gas costs now, in the smallest unit of the native token. A node that does not tell is a 503. */
export async function readGasPrice(chain: Pick<Chain, 'name' | 'rpc'>): Promise<bigint> {
  return BigInt(await requestRead(chain, answers.gas.parse, 'eth_gasPrice', []))
}

type Transaction = { from: Address; to: Address; data: Hex; value: Hex }

async function askEstimate(chain: Pick<Chain, 'rpc'>, transaction: Transaction): Promise<bigint | undefined> {
  try {
    const gas = answers.gas.find(await chain.rpc.request({ method: 'eth_estimateGas', params: [transaction] }))
    return gas === undefined ? undefined : BigInt(gas)
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}
