import { type Hex, keccak256, numberToHex, parseTransaction, toHex, toRlp } from 'viem'
import { describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { openFastRecover } from '../derive/index.js'
import { doubtTransaction } from './signedTransaction.js'

const recover = openFastRecover()
const [ann, bob] = [account(1), account(2)]
const to = bob.address
const data: Hex = '0x6e553f6500ff'
const accessList = [{ address: to, storageKeys: [`0x${'01'.repeat(32)}` as Hex] }]
const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 0n }
const basic = { chainId: 31_337, nonce: 0, gas: 100_000n, to, value: 5n, data }

type Told = Record<string, unknown>

/** A signed transaction as a node tells it. */
async function tell(transaction: Parameters<typeof ann.signTransaction>[0]): Promise<Told> {
  const serialized = await ann.signTransaction(transaction)
  const parsed = parseTransaction(serialized) as Told
  const types: Record<string, number> = { legacy: 0, eip2930: 1, eip1559: 2, eip4844: 3, eip7702: 4 }
  const told: Told = { type: toHex(types[String(parsed.type)] ?? 0), hash: keccak256(serialized), from: ann.address }
  for (const [name, value] of Object.entries(parsed))
    if (name !== 'type')
      told[name] = typeof value === 'bigint' || typeof value === 'number' ? numberToHex(value) : value
  for (const name of ['nonce', 'value']) told[name] ??= '0x0'
  for (const name of ['maxFeePerGas', 'maxPriorityFeePerGas']) told[name] ??= '0x0'
  told.input = parsed.data ?? '0x'
  told.to = parsed.to ?? null
  if (Array.isArray(told.authorizationList))
    told.authorizationList = told.authorizationList.map((each: Told) => ({
      ...each,
      ...{ chainId: numberToHex(Number(each.chainId)), nonce: numberToHex(Number(each.nonce)) },
      yParity: numberToHex(Number(each.yParity)),
    }))
  return told
}
const expected = (told: Told) => ({
  hash: String(told.hash).toLowerCase(),
  from: ann.address.toLowerCase(),
  to: told.to === null ? null : String(told.to).toLowerCase(),
  input: String(told.input).toLowerCase(),
})
const doubt = (told: Told, of = told) => doubtTransaction(told, expected(of), recover)

const blob = { maxFeePerBlobGas: 7n, blobVersionedHashes: [`0x01${'02'.repeat(31)}` as Hex] }
const kinds: [string, () => Promise<Told>][] = [
  ['legacy', () => tell({ ...basic, type: 'legacy', gasPrice: 10n ** 9n })],
  ['EIP-2930', () => tell({ ...basic, type: 'eip2930', gasPrice: 10n ** 9n, accessList })],
  ['EIP-1559', () => tell({ ...basic, ...fees, type: 'eip1559', accessList })],
  ['EIP-1559 that makes a contract', () => tell({ ...basic, ...fees, to: null, type: 'eip1559' } as never)],
  ['EIP-4844', () => tell({ ...basic, ...fees, ...blob, type: 'eip4844' } as never)],
  [
    'EIP-7702',
    async () => {
      const authorization = await bob.signAuthorization({ address: to, chainId: 31_337, nonce: 3 })
      return tell({ ...basic, ...fees, type: 'eip7702', authorizationList: [authorization] })
    },
  ],
]

describe('a transaction is a fact', () => {
  it.each(kinds)('when its fields hash to its hash and its signer is its sender: %s', async (_name, make) => {
    expect(doubt(await make())).toBeUndefined()
  })

  it('when it is a deposit of a rollup, whose hash is of its sender', () => {
    const deposit: Told = {
      ...{ type: '0x7e', from: ann.address, to, input: data, gas: '0x186a0', value: '0x0', mint: '0x5' },
      ...{ sourceHash: `0x${'03'.repeat(32)}`, isSystemTx: false },
    }
    const fields = [deposit.sourceHash, ann.address, to, '0x05', '0x', '0x0186a0', '0x', data] as Hex[]
    const told = { ...deposit, hash: keccak256(`0x7e${toRlp(fields).slice(2)}`) }
    expect(doubt(told)).toBeUndefined()
    expect(
      doubtTransaction({ ...told, from: bob.address }, { ...expected(told), from: to.toLowerCase() }, recover),
    ).toBe('fields that do not hash to its hash')
  })
})

describe('a transaction is no fact', () => {
  it.each(kinds)('when any of its fields is another: %s', async (_name, make) => {
    const told = await make()
    const changes: Told[] = [{ nonce: '0x7' }, { value: '0x6' }, { gas: '0x1' }, { r: '0x1' }, { s: '0x1' }]
    for (const change of changes) expect(doubt({ ...told, ...change }), JSON.stringify(change)).toBeDefined()
    expect(doubt({ ...told, input: '0x' }, told)).toBe('fields that are not those of before')
    expect(doubt({ ...told, hash: `0x${'09'.repeat(32)}` }, told)).toBe('another transaction than asked')
  })

  it('when another is said to have sent it', async () => {
    const told = await tell({ ...basic, ...fees, type: 'eip1559' })
    const asBob = { ...expected(told), from: bob.address.toLowerCase() }
    expect(doubtTransaction({ ...told, from: bob.address }, asBob, recover)).toBe('a sender who did not sign it')
  })

  it.each<[string, Told]>([
    ['a type nobody can hash', { type: '0x65' }],
    ['a field that is no quantity', { gas: 'lots' }],
    ['lists that are none', { accessList: 'none' }],
    ['no signature', { r: undefined }],
    ['a recovery that cannot be', { v: '0x9', yParity: '0x9' }],
  ])('when it has %s', async (_name, change) => {
    const told = await tell({ ...basic, ...fees, type: 'eip1559', accessList })
    expect(doubt({ ...told, ...change })).toBeDefined()
  })
})
