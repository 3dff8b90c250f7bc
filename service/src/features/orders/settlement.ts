import type { Address, Hex } from 'viem'
import { invalidArgument } from '../../kernel/errors.js'
import { settlementAbi } from '../../rpc/abis.js'
import { combine, mapRead, type Read, readContract } from '../../rpc/multicall.js'
import type { ChainRecord } from '../catalogue/index.js'
import type { OrderVenue } from './orderState.js'
import { hashOrderDomain } from './sellOrder.js'

/** Where orders of a chain are settled, and by whom. */
export type SettlementSettings = { address: Address; relayer: Address; venue: OrderVenue; orderBook: string }

/** The settlement of a chain, if the operator set one up. */
export function findSettlement({ swap }: Pick<ChainRecord, 'swap'>): SettlementSettings | undefined {
  const found = swap?.orders
  if (!found) return undefined
  const { settlement, relayer, venue = 'local', orderBook = '' } = found
  return { address: settlement as Address, relayer: relayer as Address, venue, orderBook }
}

export function getSettlement(settings: Pick<ChainRecord, 'swap' | 'chainId'>): SettlementSettings {
  const found = findSettlement(settings)
  if (!found)
    throw invalidArgument(`orders are not settled on chain ${settings.chainId}; GetSwap builds a swap to send yourself`)
  return found
}

/** Whether a settlement contract signs in the words we do and takes what is sold by the relayer we name. */
export function readFitness(chainId: number, { address, relayer }: SettlementSettings): Read<boolean> {
  const read = combine({
    relayer: readContract(address, settlementAbi, 'vaultRelayer', []),
    separator: readContract(address, settlementAbi, 'domainSeparator', []),
  })
  const expected = hashOrderDomain({ chainId, settlement: address })
  return mapRead(read, (found) => found.relayer?.toLowerCase() === relayer && found.separator === expected)
}

/** How much of an order the settlement contract counts as filled; more than there is: it was cancelled. */
export function readFilled(settlement: Address, uid: Hex): Read<bigint> {
  return mapRead(readContract(settlement, settlementAbi, 'filledAmount', [uid]), (filled) => filled ?? 0n)
}
