import {
  type Address,
  concat,
  domainSeparator,
  encodeFunctionData,
  getAddress,
  type Hex,
  hashTypedData,
  keccak256,
  numberToHex,
  size,
  slice,
  toHex,
} from 'viem'
import { settlementAbi } from '../../rpc/abis.js'

/** A sell order of the settlement contract (GPv2), as its owner signs it. Everything else of the type is the same in all. */
export type SellOrder = {
  chainId: number
  settlement: Address
  /** Who gives, who gets and who signs. */
  owner: Address
  sellToken: Address
  buyToken: Address
  sellAmount: bigint
  buyAmount: bigint
  /** Unix seconds; the last at which it may be filled. */
  validTo: number
  /** Hash of the app data. */
  appData: Hex
  partiallyFillable: boolean
}

/** The order in the settlement contract's own words (EIP-712). */
export const orderTypes = {
  Order: [
    { name: 'sellToken', type: 'address' },
    { name: 'buyToken', type: 'address' },
    { name: 'receiver', type: 'address' },
    { name: 'sellAmount', type: 'uint256' },
    { name: 'buyAmount', type: 'uint256' },
    { name: 'validTo', type: 'uint32' },
    { name: 'appData', type: 'bytes32' },
    { name: 'feeAmount', type: 'uint256' },
    { name: 'kind', type: 'string' },
    { name: 'partiallyFillable', type: 'bool' },
    { name: 'sellTokenBalance', type: 'string' },
    { name: 'buyTokenBalance', type: 'string' },
  ],
} as const

const domainTypes = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const

type Field = { name: string; type: string }

/** The typed data that the wallet signs, in the form of `eth_signTypedData_v4`: amounts are decimal texts. */
export type OrderTypedData = {
  domain: { name: string; version: string; chainId: number; verifyingContract: Address }
  types: { EIP712Domain: Field[]; Order: Field[] }
  primaryType: 'Order'
  message: {
    sellToken: Address
    buyToken: Address
    receiver: Address
    sellAmount: string
    buyAmount: string
    validTo: number
    appData: Hex
    feeAmount: '0'
    kind: 'sell'
    partiallyFillable: boolean
    sellTokenBalance: 'erc20'
    buyTokenBalance: 'erc20'
  }
}

const domainOf = ({ chainId, settlement }: Pick<SellOrder, 'chainId' | 'settlement'>) => ({
  ...{ name: 'Gnosis Protocol', version: 'v2', chainId },
  verifyingContract: checksum(settlement),
})

export function toTypedData(order: SellOrder): OrderTypedData {
  return {
    domain: domainOf(order),
    types: { EIP712Domain: [...domainTypes], Order: [...orderTypes.Order] },
    primaryType: 'Order',
    message: {
      sellToken: checksum(order.sellToken),
      buyToken: checksum(order.buyToken),
      receiver: checksum(order.owner),
      sellAmount: String(order.sellAmount),
      buyAmount: String(order.buyAmount),
      validTo: order.validTo,
      appData: order.appData,
      feeAmount: '0',
      kind: 'sell',
      partiallyFillable: order.partiallyFillable,
      sellTokenBalance: 'erc20',
      buyTokenBalance: 'erc20',
    },
  }
}

/** The digest of an order, which is signed. */
export function hashOrder(order: SellOrder): Hex {
  const { message } = toTypedData(order)
  return hashTypedData({
    domain: domainOf(order),
    types: orderTypes,
    primaryType: 'Order',
    message: { ...message, sellAmount: order.sellAmount, buyAmount: order.buyAmount, feeAmount: 0n },
  })
}

/** By what the settlement contract knows an order: its digest, its owner and until when it is valid, 56 bytes. */
export function computeOrderUid(order: SellOrder): Hex {
  return concat([hashOrder(order), lower(order.owner), numberToHex(order.validTo, { size: 4 })])
}

/** The parts of an order's uid; undefined if malformed. */
export function parseOrderUid(uid: string): { digest: Hex; owner: Address; validTo: number } | undefined {
  if (!/^0x[0-9a-f]{112}$/i.test(uid) || size(uid as Hex) !== 56) return undefined
  const hex = uid.toLowerCase() as Hex
  return { digest: slice(hex, 0, 32), owner: slice(hex, 32, 52), validTo: Number(slice(hex, 52, 56)) }
}

/** The transaction by which its owner ends an order, even when others hold its signature. */
export function buildCancellation(order: { chainId: number; settlement: string; orderUid: Hex }) {
  return {
    to: getAddress(order.settlement.toLowerCase()),
    data: encodeFunctionData({ abi: settlementAbi, functionName: 'invalidateOrder', args: [order.orderUid] }),
    value: '0',
    chainId: order.chainId,
  }
}

/** The app data of an order: who brought it. The members stand in this order, or the hash is another. */
export function formatAppData(of: {
  distributorId: string
  orderId: string
  opportunityId?: string | undefined
}): string {
  const { distributorId, orderId, opportunityId } = of
  const openearn = { orderId, ...(opportunityId === undefined ? {} : { opportunityId }) }
  return JSON.stringify({ appCode: distributorId, metadata: { openearn }, version: '1.1.0' })
}

export function hashAppData(appData: string): Hex {
  return keccak256(toHex(appData))
}

/** The EIP-712 domain separator of the settlement contract. */
export function hashOrderDomain(of: Pick<SellOrder, 'chainId' | 'settlement'>): Hex {
  return domainSeparator({ domain: domainOf(of) })
}

const lower = (address: Address): Address => address.toLowerCase() as Address
const checksum = (address: Address): Address => getAddress(lower(address))
