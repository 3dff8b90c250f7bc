import { type Address, concat, encodeAbiParameters, getAddress, type Hex, pad } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, startAnvil } from '../../../contracts/test/anvil.js'
import { chainSettings } from '../../test/actionWorld.js'
import { readVectors } from '../../test/vectors.js'
import { systemClock } from '../kernel/clock.js'
import { EarnError } from '../kernel/errors.js'
import { createOutbound } from '../kernel/outbound.js'
import { type Chain, openChain } from '../rpc/chains.js'
import { verifyEvmSignature } from './evm.js'

type Vector = { name: string; signer: Address; message: string; signature: Hex; valid: boolean; note?: string }

const { smartAccounts, smartAccountFixtures: fixtures, testKeys } = readVectors('siwe.json')
const magicSuffix: Hex = fixtures.magicSuffix
const always = '0x000000000000000000000000000000000a17a751'
const late = '0x000000000000000000000000000000000000017e'
let anvil: Anvil
let chain: Chain

beforeAll(async () => {
  anvil = await startAnvil({ timestamp: 1_795_000_000 })
  chain = openChain(createOutbound(systemClock), chainSettings(anvil.url))
  const place = async (address: Address, bytecode: Hex, owner?: Address) => {
    await anvil.client.setCode({ address, bytecode })
    if (owner) await anvil.client.setStorageAt({ address, index: 0, value: pad(owner) })
  }
  await place(fixtures.wallet, fixtures.deployedBytecode.Wallet, testKeys.account0)
  await place(fixtures.revertingWallet, fixtures.deployedBytecode.Reverts)
  await place(fixtures.factory, fixtures.deployedBytecode.Factory)
})
afterAll(() => anvil.stop())

const judge = ({ signer, message, signature }: Pick<Vector, 'signer' | 'message' | 'signature'>, on = chain) =>
  verifyEvmSignature(on, { address: signer.toLowerCase(), message, signature })
const verify = async (...asked: Parameters<typeof judge>) => (await judge(...asked)) === 'signed'

describe('ERC-1271 and ERC-6492 vectors', () => {
  it.each<Vector>(smartAccounts)('$name', async (vector) => {
    // The on-chain validator knows v 27 and 28 only; the keys of accounts are checked before it, v 0 and 1 included.
    const expected = vector.valid || vector.note === 'validator requires v in {27,28}: normalise before the call'
    expect(await verify(vector)).toBe(expected)
  })

  it('are 11', () => expect(smartAccounts).toHaveLength(11))

  it('leave nothing behind on the chain', async () => {
    expect(await anvil.client.getCode({ address: fixtures.counterfactual })).toBeUndefined()
    expect(await anvil.client.getBlockNumber()).toBe(0n)
  })
})

describe('the word of a contract', () => {
  const find = (name: string): Vector => smartAccounts.find((vector: Vector) => vector.name === name)

  it('is never asked where no chain is configured', async () => {
    const vector = find('eip1271/deployed wallet, owner signs')
    expect(await verifyEvmSignature(undefined, { ...vector, address: vector.signer.toLowerCase() })).toBe('not-signed')
  })

  it('is asked with any signature, an empty and a short one too', async () => {
    const vector = find('eip1271/deployed wallet, owner signs')
    await anvil.client.setCode({ address: always, bytecode: '0x631626ba7e60e01b5f5260205ff3' })
    for (const signature of ['0x', '0X', '0x0b', '0x0b0b', `0x${'0b'.repeat(31)}`, `0x${'0b'.repeat(64)}`] as Hex[])
      expect(await judge({ ...vector, signer: always, signature }), signature).toBe('signed')
    // Nobody lives here.
    expect(await judge({ ...vector, signer: pad('0xabcd', { size: 20 }), signature: '0x' })).toBe('not-signed')
  })

  it('is not needed where an account with delegated code signs with its own key', async () => {
    const vector = find('eip1271/owner signature presented for the owner EOA')
    const designator = `0xef0100${fixtures.revertingWallet.slice(2)}` as const
    await anvil.client.setCode({ address: vector.signer, bytecode: designator })
    expect(await judge(vector)).toBe('signed')
    expect(await judge({ ...vector, signature: '0x0b' })).toBe('contract-failed')
    await anvil.client.setCode({ address: vector.signer, bytecode: '0x' })
  })

  it('is asked without the call that creates it where there is a contract already', async () => {
    const vector = find('eip1271/deployed wallet, owner signs')
    // Says yes once its slot 0 is set, which any other call does: a wallet its creator has not initialised yet.
    const bytecode = '0x5f3560e01c631626ba7e1460135760015f55005b5f5415602857631626ba7e60e01b5f5260205ff35b5f5ffd'
    await anvil.client.setCode({ address: late, bytecode })
    const signature = wrap(late, '0x01020304', '0x0b')
    expect(await judge({ ...vector, signer: late, signature })).toBe('contract-failed')
    await anvil.client.setStorageAt({ address: late, index: 0, value: pad('0x1') })
    expect(await judge({ ...vector, signer: late, signature })).toBe('signed')
    expect(await judge({ ...vector, signer: late, signature: concat([magicSuffix]) })).toBe('not-signed')
  })

  it('cannot make a mirrored signature of its own key pass', async () => {
    const [signer, code] = [getAddress(testKeys.account0), fixtures.deployedBytecode.Wallet]
    const twin = readVectors('siwe.json').vectors.find((vector: Vector) => vector.name === 'edge/high-s malleable twin')
    await anvil.client.setCode({ address: signer, bytecode: code })
    expect(await verify({ ...twin, signer })).toBe(false)
    await anvil.client.setCode({ address: signer, bytecode: '0x' })
    expect(await verify({ ...twin, signer })).toBe(false)
  })

  it('is no when the contract runs out of gas, loops, returns nothing, or is cut short', async () => {
    const vector = find('eip1271/deployed wallet, owner signs')
    const signer = '0x00000000000000000000000000000000000c0de5'
    // Nothing; an endless loop; an invalid opcode; a word that is almost the magic value; 4 bytes of it only.
    const codes: Hex[] = [
      '0x00',
      '0x5b600056',
      '0xfe',
      '0x631626ba7f60e01b60005260206000f3',
      '0x631626ba7e60e01b60005260046000f3',
    ]
    for (const bytecode of codes) {
      await anvil.client.setCode({ address: signer, bytecode })
      expect(await verify({ ...vector, signer }), bytecode).toBe(false)
    }
    for (const bytecode of ['0x5b600056', '0xfe', '0x600156', '0x50', '0x0c', '0x5f5ffd'] as const) {
      await anvil.client.setCode({ address: signer, bytecode })
      expect(await judge({ ...vector, signer }), bytecode).toBe('contract-failed')
    }
  })

  it('is a 503 when the chain does not answer', async () => {
    const dead = openChain(createOutbound(systemClock), chainSettings('http://127.0.0.1:1'))
    const failure = await verify(find('eip1271/deployed wallet, owner signs'), dead).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(EarnError)
    expect(failure).toMatchObject({ code: 503, retryAfterSeconds: expect.any(Number) })
    expect(await verify(find('eoa/valid'), dead)).toBe(true)
  })

  it.each([null, 'hello', '0xabc', {}])('is a 503, and no refusal, when the node answers %j', async (result) => {
    const answer = ({ id, method }: { id: number; method: string }) =>
      JSON.stringify({ jsonrpc: '2.0', id, result: method === 'eth_chainId' ? '0x7a69' : result })
    const fetchText = async ({ body }: { body?: string }) => answer(JSON.parse(body ?? ''))
    const odd = openChain({ fetchText }, chainSettings('http://127.0.0.1:1'))
    await expect(judge(find('eip1271/deployed wallet, owner signs'), odd)).rejects.toMatchObject({ code: 503 })
  })
})

/** A signature with a call that is said to create its contract (ERC-6492). */
function wrap(factory: Address, data: Hex, signature: Hex): Hex {
  const parameters = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const
  return concat([encodeAbiParameters(parameters, [factory, data, signature]), magicSuffix])
}
