import { streamAbi } from '@openearn/contracts'
import { type Address, erc20Abi } from 'viem'
import { unavailable } from '../../kernel/errors.js'
import { readBlock, readHead } from '../../rpc/blocks.js'
import type { Chain } from '../../rpc/chains.js'
import { combine, multicall, readContract } from '../../rpc/multicall.js'

/** Holdings and debts of the contract of a stream at a block. */
export type Holdings = { balance: bigint; funded: bigint; allocated: bigint; claimed: bigint }

/**
 * The withdrawable amount: while a stream runs, its holdings above the budget; once it is fully processed, its holdings above
 * the allocated amount. The owed amount always stays. Pure.
 */
export function computeWithdrawable(holdings: Holdings, isProcessed: boolean): bigint {
  const { balance, funded, allocated, claimed } = holdings
  const owed = (isProcessed ? allocated : funded) - claimed
  return balance > owed ? balance - owed : 0n
}

/** Reads the contract of a stream at the last confirmed block and at the head. Throws 503. */
export async function readHoldings(chain: Chain, contract: string, rewardToken: string): Promise<Holdings[]> {
  const head = await readHead(chain)
  const deep = Math.max(0, head.number - chain.confirmations + 1)
  const confirmed = deep === head.number ? head : await readBlock(chain, deep)
  const hashes = [...new Set([confirmed.hash, head.hash])]
  return Promise.all(hashes.map((blockHash) => readAt(chain, contract, rewardToken, blockHash)))
}

async function readAt(chain: Chain, contract: string, rewardToken: string, blockHash: string): Promise<Holdings> {
  const stream = contract as Address
  const { answer } = await multicall(
    chain,
    combine({
      balance: readContract(rewardToken as Address, erc20Abi, 'balanceOf', [stream]),
      funded: readContract(stream, streamAbi, 'getTotalFunded', []),
      allocated: readContract(stream, streamAbi, 'getTotalAllocated', []),
      claimed: readContract(stream, streamAbi, 'getTotalClaimed', []),
    }),
    { blockHash },
  )
  const { balance, funded, allocated, claimed } = answer
  if (balance === undefined || funded === undefined || allocated === undefined || claimed === undefined)
    throw unavailable('the contract of the stream does not answer; try again shortly')
  return { balance, funded, allocated, claimed }
}
