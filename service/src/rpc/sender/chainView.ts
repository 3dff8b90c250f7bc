import type { Chain } from '../chains.js'
import { type Estimate, estimateAt } from '../estimate.js'
import { RpcError } from '../rpc.js'
import { answers, malformed, toQuantity } from '../wire.js'
import type { FeeLevel, Fees } from './fees.js'

/** How a transaction was mined. */
export type Mined = { hash: string; blockNumber: number; success: boolean; cost: bigint }

export type ChainView = ReturnType<typeof createChainView>

/** What the nodes of a chain say of transactions of one address (lower-case). A node that does not tell throws. */
export function createChainView({ rpc }: Pick<Chain, 'rpc'>, address: string) {
  const ask = (method: string, params: readonly unknown[]) => rpc.request({ method, params })
  /** How many transactions of the address are mined, at the head or at the end of a block. */
  const count = async (at: number | 'latest'): Promise<number> =>
    Number(
      answers.quantity.parse(await ask('eth_getTransactionCount', [address, at === 'latest' ? at : toQuantity(at)])),
    )
  return {
    count,
    findMined: async (hash: string): Promise<Mined | undefined> => {
      const value = await ask('eth_getTransactionReceipt', [hash])
      if (value === null) return undefined
      const { transactionHash, blockNumber, status, gasUsed, effectiveGasPrice } = answers.paid.parse(value)
      if (transactionHash.toLowerCase() !== hash) throw malformed('a node answered another receipt than asked')
      const cost = BigInt(gasUsed) * BigInt(effectiveGasPrice ?? 0)
      return { hash, blockNumber: Number(blockNumber), success: Number(status ?? 1) === 1, cost }
    },
    /**
     * The hash of the transaction that was mined with a nonce, looked for above a block at whose end it was free. Undefined
     * where the node does not remember so far back.
     */
    findTaker: async (nonce: number, above: number, head: number): Promise<string | undefined> => {
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
      return own?.hash.toLowerCase()
    },
    /** What gas costs: the base fee of the next block, and what the median of the last one's transactions gave beyond. */
    readFeeLevel: async (): Promise<FeeLevel> => {
      const { baseFeePerGas, reward } = answers.feeHistory.parse(await ask('eth_feeHistory', ['0x1', 'latest', [50]]))
      const tip = BigInt(reward?.at(-1)?.[0] || 0)
      return { baseFee: BigInt(baseFeePerGas.at(-1) || 0), tip: tip > tipMin ? tip : tipMin }
    },
    /** How much gas a transaction needs at the price that is offered for it, or why it cannot be sent. */
    estimate: ({ to, data, value }: { to: string; data: string; value: bigint }, fees: Fees): Promise<Estimate> =>
      estimateAt({ rpc }, { from: address, to, data, value }, fees),
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

/** Nothing is mined for nothing everywhere. */
const tipMin = 1_000_000n

/** In the words of Geth, Nethermind, Erigon, Besu and Anvil. */
const isKnown = /already (known|imported|in)|known transaction|alreadyknown/i
