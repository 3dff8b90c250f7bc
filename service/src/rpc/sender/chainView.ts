import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { Chain } from '../chains.js'
import { type Estimate, estimateAt } from '../estimate.js'
import { RpcError } from '../rpc.js'
import { answers, malformed, toQuantity } from '../wire.js'
import type { Mined, Taker } from './decide.js'
import type { FeeLevel, Fees } from './fees.js'

export type ChainView = ReturnType<typeof createChainView>

/** Reads of the nodes of a chain about transactions of one address (lower-case). Throws if a node does not respond. */
export function createChainView(chain: Pick<Chain, 'rpc' | 'transactionGasCap'>, address: string) {
  const { rpc } = chain
  const ask = (method: string, params: readonly unknown[]) => rpc.request({ method, params })
  /** How many transactions of the address are mined, at the head or at the end of a block. */
  const count = async (at: number | 'latest' | 'pending'): Promise<number> => {
    const block = typeof at === 'number' ? toQuantity(at) : at
    return Number(answers.quantity.parse(await ask('eth_getTransactionCount', [address, block])))
  }
  /** How many are mined at the head, and how many with those that wait; a node that knows of no waiting ones tells the first. */
  const readCounts = async (): Promise<{ latest: number; pending: number }> => {
    const [latest, pending] = await Promise.all([
      count('latest'),
      count('pending').catch((error: unknown) => {
        if (!(error instanceof RpcError)) throw error
        return 0
      }),
    ])
    return { latest, pending: Math.max(latest, pending) }
  }
  /** Contracts of other kinds of chains are not asked twice. */
  const absent = new Set<string>()
  return {
    count,
    readCounts,
    readBalance: async (): Promise<bigint> =>
      BigInt(answers.balance.parse(await ask('eth_getBalance', [address, 'latest']))),
    /**
     * How transactions of these hashes were mined, those that were. A receipt counts while its block stands on the chain: nodes
     * keep those of blocks that a reorganisation took back.
     */
    listMined: async (hashes: readonly string[]): Promise<ReadonlyMap<string, Mined>> => {
      const receipts = await rpc.batch(hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })))
      const told = receipts.flatMap((value, index) => (value === null ? [] : [toMined(hashes[index] as string, value)]))
      const numbers = [...new Set(told.map(({ mined }) => mined.blockNumber))]
      const blocks = await rpc.batch(
        numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), false] })),
      )
      const standing = new Map(
        numbers.map((number, index) => [number, answers.blockHash.parse(blocks[index])?.hash.toLowerCase()]),
      )
      return new Map(
        told
          .filter(({ mined, blockHash }) => standing.get(mined.blockNumber) === blockHash)
          .map(({ mined }) => [mined.hash, mined]),
      )
    },
    /**
     * The transaction that was mined with a nonce, looked for above a block at whose end it was free. Undefined where the
     * node does not remember so far back.
     */
    findTaker: async (nonce: number, above: number, head: number): Promise<Taker | undefined> => {
      let [free, taken] = [above, head]
      try {
        if ((await count(free)) > nonce || (await count(taken)) <= nonce) return undefined
        while (taken - free > 1) {
          const middle = Math.floor((free + taken) / 2)
          if ((await count(middle)) > nonce) taken = middle
          else free = middle
        }
      } catch (error) {
        if (error instanceof RpcError) return undefined
        throw error
      }
      const block = answers.senders.parse(await ask('eth_getBlockByNumber', [toQuantity(taken), true]))
      const own = block.transactions.find((each) => each.from.toLowerCase() === address && Number(each.nonce) === nonce)
      return own && toTaker(own, taken)
    },
    /** The price of gas: the base fee of the next block, and the median tip of the last block's transactions. */
    readFeeLevel: async (): Promise<FeeLevel> => {
      const { baseFeePerGas, reward } = answers.feeHistory.parse(await ask('eth_feeHistory', ['0x1', 'latest', [50]]))
      const tip = BigInt(reward?.at(-1)?.[0] || 0)
      return { baseFee: BigInt(baseFeePerGas.at(-1) || 0), tip: tip > tipMin ? tip : tipMin }
    },
    /** How much gas a transaction needs at the price that is offered for it, or why it cannot be sent. */
    estimate: ({ to, data, value }: { to: string; data: string; value: bigint }, fees: Fees): Promise<Estimate> =>
      estimateAt(chain, { from: address, to, data, value }, fees),
    /** The gas of an empty transaction to itself; undefined if the node does not return it. */
    estimateEmpty: async (): Promise<bigint | undefined> => {
      try {
        const call = { from: address, to: address, data: '0x', value: '0x0' }
        return BigInt(answers.gas.parse(await ask('eth_estimateGas', [call])))
      } catch (error) {
        if (error instanceof RpcError) return undefined
        throw error
      }
    },
    /** Twice the cost of posting a transaction to another chain beyond its gas, because that price moves too. Zero elsewhere. */
    readPosting: async (raw: Hex): Promise<bigint> => {
      const data = encodeFunctionData({ abi: oracleAbi, functionName: 'getL1Fee', args: [raw] })
      const fees = await Promise.all(
        oracles.map(async (to) => {
          if (absent.has(to)) return 0n
          try {
            const fee = answers.bytes.parse(await ask('eth_call', [{ to, data }, 'latest']))
            if (fee === '0x') absent.add(to)
            return fee.length === 66 ? BigInt(fee) : 0n
          } catch (error) {
            if (error instanceof RpcError) return 0n
            throw error
          }
        }),
      )
      return 2n * fees.reduce((sum, fee) => sum + fee, 0n)
    },
    /** Hands a signed transaction to a node; undefined when it took it, or has it already, else what it says. */
    broadcast: async (raw: string): Promise<string | undefined> => {
      try {
        await ask('eth_sendRawTransaction', [raw])
        return undefined
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        return isKnown.test(error.message) ? undefined : error.message
      }
    },
  }
}

function toMined(hash: string, value: unknown): { mined: Mined; blockHash: string } {
  const { transactionHash, blockHash, blockNumber, status, gasUsed, effectiveGasPrice, l1Fee } =
    answers.paid.parse(value)
  if (transactionHash.toLowerCase() !== hash) throw malformed('a node answered another receipt than asked')
  const cost = BigInt(gasUsed) * BigInt(effectiveGasPrice || 0) + BigInt(l1Fee || 0)
  const mined = { hash, blockNumber: Number(blockNumber), success: Number(status ?? 1) === 1, cost }
  return { mined, blockHash: blockHash.toLowerCase() }
}

function toTaker(transaction: unknown, blockNumber: number): Taker {
  const sent = answers.sent.parse(transaction)
  return {
    hash: sent.hash.toLowerCase(),
    nonce: Number(sent.nonce),
    to: sent.to?.toLowerCase() ?? null,
    data: sent.input.toLowerCase(),
    value: BigInt(sent.value || 0),
    gasLimit: BigInt(sent.gas || 0),
    fees: {
      maxFee: BigInt(sent.maxFeePerGas || sent.gasPrice || 0),
      tip: BigInt(sent.maxPriorityFeePerGas || sent.gasPrice || 0),
    },
    blockNumber,
  }
}

/** Contracts that tell the part of a transaction's cost for posting it: of the OP Stack, and of Scroll. */
const oracles = ['0x420000000000000000000000000000000000000f', '0x5300000000000000000000000000000000000002'] as const
const oracleAbi = parseAbi(['function getL1Fee(bytes data) view returns (uint256)'])

/** Nothing is mined for nothing everywhere. */
const tipMin = 1_000_000n

/** In the words of Geth, Nethermind, Erigon, Besu and Anvil. */
const isKnown = /already (known|imported|in)|known transaction|alreadyknown/i
