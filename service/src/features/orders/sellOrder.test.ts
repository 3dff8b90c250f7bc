import { concat, encodeAbiParameters, type Hex, hashTypedData, keccak256, numberToHex, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  buildCancellation,
  computeOrderUid,
  formatAppData,
  hashAppData,
  hashOrder,
  parseOrderUid,
  type SellOrder,
  toTypedData,
} from './sellOrder.js'

const order: SellOrder = {
  chainId: 1,
  settlement: '0x9008d19f58aabd9ed0d60971565aa8510560ab41',
  owner: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  sellToken: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  buyToken: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  sellAmount: 10n ** 18n,
  buyAmount: 2_500_000_000n,
  validTo: 1_795_000_000,
  appData: `0x${'ab'.repeat(32)}`,
  partiallyFillable: true,
}

/** The digest by the words of EIP-712, without a library that knows them. */
function hashByHand(of: SellOrder): Hex {
  const typeHash = (text: string) => keccak256(toHex(text))
  const word = { type: 'bytes32' } as const
  const address = { type: 'address' } as const
  const uint = { type: 'uint256' } as const
  const separator = keccak256(
    encodeAbiParameters(
      [word, word, word, uint, address],
      [
        typeHash('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'),
        typeHash('Gnosis Protocol'),
        typeHash('v2'),
        BigInt(of.chainId),
        of.settlement,
      ],
    ),
  )
  const struct = keccak256(
    encodeAbiParameters(
      [word, address, address, address, uint, uint, uint, word, uint, word, { type: 'bool' }, word, word],
      [
        typeHash(
          'Order(address sellToken,address buyToken,address receiver,uint256 sellAmount,uint256 buyAmount,uint32 validTo,bytes32 appData,uint256 feeAmount,string kind,bool partiallyFillable,string sellTokenBalance,string buyTokenBalance)',
        ),
        ...([of.sellToken, of.buyToken, of.owner] as const),
        ...([of.sellAmount, of.buyAmount, BigInt(of.validTo), of.appData, 0n] as const),
        ...([typeHash('sell'), of.partiallyFillable, typeHash('erc20'), typeHash('erc20')] as const),
      ],
    ),
  )
  return keccak256(concat(['0x1901', separator, struct]))
}

describe('an order', () => {
  it('has the digest EIP-712 gives it, by hand and by a wallet that gets the typed data as JSON', () => {
    const { types, ...rest } = JSON.parse(JSON.stringify(toTypedData(order)))
    expect(hashOrder(order)).toBe(hashByHand(order))
    expect(hashTypedData({ types, ...rest })).toBe(hashOrder(order))
  })

  it('has another digest for every member that differs', () => {
    const others: SellOrder[] = [
      { ...order, chainId: 2 },
      { ...order, settlement: order.owner },
      { ...order, owner: order.settlement },
      { ...order, sellToken: order.buyToken },
      { ...order, buyToken: order.sellToken },
      { ...order, sellAmount: order.sellAmount + 1n },
      { ...order, buyAmount: order.buyAmount - 1n },
      { ...order, validTo: order.validTo + 1 },
      { ...order, appData: `0x${'ac'.repeat(32)}` },
      { ...order, partiallyFillable: false },
    ]
    const digests = [order, ...others].map(hashOrder)
    expect(new Set(digests).size).toBe(others.length + 1)
    expect(digests).toEqual([order, ...others].map(hashByHand))
  })

  it('has the constants of the published contract in its type and in the hashes of its texts', () => {
    // As they stand in the published GPv2Order library.
    const published = {
      kindSell: '0xf3b277728b3fee749481eb3e0b3b48980dbbab78658fc419025cb16eee346775',
      balanceErc20: '0x5a28e9363bb942b639270062aa6bb295f434bcdfc42c97267bf003f272060dc9',
      type: '0xd5a25ba2e97094ad7d83dc28a6572da797d6b3e7fc6663bd93efb789fc17e489',
    }
    expect(keccak256(toHex('sell'))).toBe(published.kindSell)
    expect(keccak256(toHex('erc20'))).toBe(published.balanceErc20)
    const fields = toTypedData(order).types.Order.map(({ name, type }) => `${type} ${name}`)
    expect(keccak256(toHex(`Order(${fields.join(',')})`))).toBe(published.type)
  })

  it('is known by its digest, its owner and its expiry, and cancelled by that', () => {
    const uid = computeOrderUid(order)
    expect(uid).toBe(concat([hashByHand(order), order.owner, numberToHex(order.validTo, { size: 4 })]))
    expect(parseOrderUid(uid)).toEqual({ digest: hashOrder(order), owner: order.owner, validTo: order.validTo })
    for (const bad of ['', '0x', uid.slice(0, -2), `${uid}00`, uid.replace('0x', ''), `${uid.slice(0, -2)}zz`])
      expect(parseOrderUid(bad), bad).toBeUndefined()
    expect(buildCancellation({ ...order, orderUid: uid })).toEqual({
      to: '0x9008D19f58AAbD9eD0D60971565AA8510560ab41',
      // invalidateOrder(bytes), the offset of the bytes, their length, and the uid padded to 64 bytes.
      data: `0x15337bc0${'20'.padStart(64, '0')}${'38'.padStart(64, '0')}${uid.slice(2)}${'00'.repeat(8)}`,
      value: '0',
      chainId: 1,
    })
  })
})

describe('its app data', () => {
  const orderId = '01890a5d-ac96-774b-bcce-b302099a8057'

  it('names distributor and order, and the opportunity where there is one, in this order of members', () => {
    expect(formatAppData({ distributorId: 'acme', orderId })).toBe(
      `{"appCode":"acme","metadata":{"openearn":{"orderId":"${orderId}"}},"version":"1.1.0"}`,
    )
    expect(formatAppData({ distributorId: 'acme', orderId, opportunityId: orderId })).toBe(
      `{"appCode":"acme","metadata":{"openearn":{"orderId":"${orderId}","opportunityId":"${orderId}"}},"version":"1.1.0"}`,
    )
  })

  it('is hashed as it stands', () => {
    // The hash the public order book documents for the empty document.
    expect(hashAppData('{}')).toBe('0xb48d38f93eaa084033fc5970bf96e559c33c4cdc07d889ab00b4d63f9590739d')
    expect(hashAppData('{ }')).not.toBe(hashAppData('{}'))
  })
})
