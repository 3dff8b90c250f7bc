import { type Address, type Hex, isHex, numberToHex } from 'viem'
import { type Chain, getTransactionGasCap, readingChain } from './chains.js'
import { requestRead } from './multicall.js'
import { describeRevert } from './revert.js'
import { RpcError } from './rpc.js'
import type { Call } from './simulateBlock.js'
import { answers } from './wire.js'

/** An address that runs nothing: a transaction to it costs its calldata, and what the chain adds to that. */
const nobody: Address = '0x000000000000000000000000000000000000dEaD'

/**
 * The node's gas estimate of a transaction, and that of a transaction with the same calldata that runs no code. Undefined if
 * the node refuses: a call after an approval that is not mined yet reverts.
 */
export async function estimateGas(
  chain: Pick<Chain, 'name' | 'rpc' | 'transactionGasCap'>,
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

/** The present price of a unit of gas, in the smallest unit of the native token. Throws a 503 if the node does not respond. */
export async function readGasPrice(chain: Pick<Chain, 'name' | 'rpc'>): Promise<bigint> {
  return BigInt(await requestRead(chain, answers.gas.parse, 'eth_gasPrice', []))
}

/** The price offered for a unit of gas: a fixed price, or the maximum fee and the tip (EIP-1559). */
export type GasOffer = { gasPrice: bigint } | { maxFee: bigint; tip: bigint }

/** The gas a transaction needs; or why it would revert; or what its sender lacks to send it at that price now. */
export type Estimate = { gas: bigint } | { revert: string } | { lack: string; of: 'funds' | 'price' }

/**
 * The gas a transaction needs at the price that will be paid. Contracts see that price: a transaction that succeeds in a
 * simulation at price 0 may revert when it is mined.
 */
export async function estimateAt(
  chain: Pick<Chain, 'rpc' | 'transactionGasCap'>,
  { from, to, data, value }: { from: string; to: string; data: string; value: bigint },
  offer: GasOffer,
): Promise<Estimate> {
  const unpriced = { from, to, data, value: numberToHex(value) }
  const priced = await tryEstimate(chain, { ...unpriced, ...toMembers(offer) })
  if ('gas' in priced) return priced
  // Nodes let it use no more gas than its sender can pay for: whether that is why, each says in other words or not at all.
  const [bare, held] = await Promise.all([
    tryEstimate(chain, unpriced),
    chain.rpc.request({ method: 'eth_getBalance', params: [from, 'latest'] }),
  ])
  if ('refusal' in bare) return { revert: describe(bare.refusal) }
  const [balance, needed] = [BigInt(answers.balance.parse(held)), value + bare.gas * getMost(offer)]
  if (balance < needed) return { lack: `the sender holds ${balance}, and it may cost ${needed}`, of: 'funds' }
  const { message, data: returned } = priced.refusal
  const isBelow = !isHex(returned) && /base ?fee/i.test(message)
  return isBelow
    ? { lack: 'a unit of gas costs more than was asked a moment ago', of: 'price' }
    : { revert: describe(priced.refusal) }
}

const getMost = (offer: GasOffer): bigint => ('gasPrice' in offer ? offer.gasPrice : offer.maxFee)

const toMembers = (offer: GasOffer) =>
  'gasPrice' in offer
    ? { gasPrice: numberToHex(offer.gasPrice) }
    : { maxFeePerGas: numberToHex(offer.maxFee), maxPriorityFeePerGas: numberToHex(offer.tip) }

type Estimating = Pick<Chain, 'rpc' | 'transactionGasCap'>

async function tryEstimate(chain: Estimating, call: object): Promise<{ gas: bigint } | { refusal: RpcError }> {
  try {
    return { gas: BigInt(answers.gas.parse(await requestEstimate(chain, call))) }
  } catch (error) {
    if (error instanceof RpcError) return { refusal: error }
    throw error
  }
}

/** A node runs code for an estimate, and no longer than the gas that a transaction may have. */
function requestEstimate(chain: Estimating, call: object): Promise<unknown> {
  const gas = numberToHex(getTransactionGasCap(chain))
  return chain.rpc.request({ method: 'eth_estimateGas', params: [{ ...call, gas }] })
}

const describe = ({ data, message }: RpcError): string => {
  if (isHex(data)) return describeRevert(data)
  return /allowance|out of gas|gas limit/i.test(message)
    ? 'with all the gas a transaction may have'
    : 'and the node does not say why'
}

type Transaction = { from: Address; to: Address; data: Hex; value: Hex }

async function askEstimate(chain: Estimating, transaction: Transaction): Promise<bigint | undefined> {
  try {
    const gas = answers.gas.find(await requestEstimate(chain, transaction))
    return gas === undefined ? undefined : BigInt(gas)
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}
