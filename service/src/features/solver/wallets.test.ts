import { concat, type Hex, keccak256, pad, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { readPublishedRuntime } from '../../../test/published.js'
import { judgeWallet, listTrusted, walletSlots } from './wallets.js'

const proxy = readPublishedRuntime(
  '@safe-global/safe-contracts/build/artifacts/contracts/proxies/SafeProxy.sol/SafeProxy.json',
)
const word = (address: string) => pad(address as Hex, { size: 32 })
const part = (kind: number): Hex => concat([toHex(7n, { size: 64 }), toHex(kind, { size: 1 })])

const safe = '0x41675C099F32341bf84BFc5382aF534df5C7461a'
const safeL2 = '0x29fcB43b46531BcA003ddC8FCB67FFE91900C762'
const handler = '0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99'
const olderSafes = [
  '0xd9Db270c1B5E3Bd161E8c8503c55cEABeE709552',
  '0x69f4D1788e39c87893C980c06EdF4b7f686e2938',
  '0x3E5c63644E683549055b9Be8653de26E0B4CD36E',
  '0xfb1bffC9d739B8D520DaF37dF666da4C687191EA',
]
const olderHandlers = ['0xf48f2B2d2a534e402487b3ee7C18c33Aec0Fe5e4', '0x017062a1dE2FE6b99BE3d9d37841FeD19F573804']
const stranger = `0x${'5e'.repeat(20)}`
const own = { singleton: `0x${'a1'.repeat(20)}`, handler: `0x${'b2'.repeat(20)}` }

/** The runtime code that the factory of version 1.3.0 gives its proxies; this version's package is no dependency. */
const olderProxy: Hex =
  '0x608060405273ffffffffffffffffffffffffffffffffffffffff600054167fa619486e0000000000000000000000000000000000000000000000000000000060003514156050578060005260206000f35b3660008037600080366000845af43d6000803e60008114156070573d6000fd5b3d6000f3fea2646970667358221220d1429297349653a4918076d650332de1a1068c5f3e07c5c82360c277770b955264736f6c63430007060033'

const standard = { code: proxy, singleton: word(safe), handler: word(handler) }
const judge = (state: Partial<typeof standard>, signature: Hex = part(27), trusted = listTrusted()) => {
  const given = { ...standard, ...state }
  const verdict = judgeWallet(given, signature, trusted)
  if ('risk' in verdict) return verdict.risk
  expect(verdict.known.codeHash).toBe(keccak256(given.code))
  expect([verdict.known.singleton, verdict.known.handler].map((each) => pad(each))).toEqual(
    [given.singleton, given.handler].map((each) => each.toLowerCase()),
  )
  return undefined
}

describe('a contract wallet', () => {
  it('has the slots that its published code names', () => {
    expect(walletSlots.handler).toBe(keccak256(toHex('fallback_manager.handler.address')))
    expect(BigInt(walletSlots.singleton)).toBe(0n)
  })

  it.each([
    ['a Safe 1.4.1', {}],
    ['a SafeL2 1.4.1', { singleton: word(safeL2) }],
    ...olderSafes.flatMap((singleton) =>
      olderHandlers.map((each) => [
        `a Safe 1.3.0 at ${singleton} with ${each}`,
        { code: olderProxy, singleton: word(singleton), handler: word(each) },
      ]),
    ),
    ['a Safe moved to a newer version', { code: olderProxy }],
  ] as [string, Partial<typeof standard>][])('is no risk: %s', (_name, state) => {
    expect(judge(state)).toBeUndefined()
  })

  it.each([
    ['without code', { code: '0x' }, /its code/],
    ['an account that delegates (EIP-7702) to a Safe', { code: concat(['0xef0100', safe]) }, /its code/],
    ['an account that delegates (EIP-7702) to a stranger', { code: concat(['0xef0100', stranger as Hex]) }, /its code/],
    ['a proxy with one byte more', { code: concat([proxy, '0x00']) }, /its code/],
    ['a proxy of a stranger’s code', { singleton: word(stranger) }, /delegates to 0x5e/],
    ['a Safe with a stranger’s handler', { handler: word(stranger) }, /handler 0x5e/],
    ['a Safe without a handler', { handler: word('0x00') }, /handler 0x00/],
    ['a slot with more than an address', { singleton: `0x01${word(safe).slice(4)}` }, /holds no address/],
    ['a slot that the node cut', { handler: '0x00' }, /holds no address/],
    ['a handler in place of the singleton', { singleton: word(handler), handler: word(safe) }, /delegates to/],
  ] as [string, Partial<typeof standard>, RegExp][])('is a risk: %s', (_name, state, why) => {
    expect(judge(state)).toMatch(why)
  })

  it.each([
    ['of a key', part(27)],
    ['of a key, the other parity', part(28)],
    ['of a key for a prefixed message', concat([part(31), part(32)])],
    ['that is an approved hash', concat([part(1), part(28)])],
    ['of ten owners', concat(Array.from({ length: 10 }, () => part(27)))],
    ['that is empty: its message was signed on the chain', '0x'],
  ] as [string, Hex][])('is no risk with a signature %s', (_name, signature) => {
    expect(judge({}, signature)).toBeUndefined()
  })

  it.each([
    ['of a contract', part(0), /kind 0/],
    ['of a contract behind one of a key', concat([part(27), part(0)]), /kind 0/],
    ['of a kind nobody knows', part(2), /kind 2/],
    ['with bytes behind its parts', concat([part(27), '0x00']), /66 bytes/],
    ['shorter than a part', '0x1b', /1 bytes/],
    ['of eleven owners', concat(Array.from({ length: 11 }, () => part(27))), /more than 10/],
  ] as [string, Hex, RegExp][])('is a risk with a signature %s', (_name, signature, why) => {
    expect(judge({}, signature)).toMatch(why)
  })

  it('is no risk where an operator vouches for its code with its handler, and only for both together', () => {
    const trusted = listTrusted([own])
    const state = { singleton: word(own.singleton), handler: word(own.handler) }
    expect(judge(state)).toMatch(/not known/)
    expect(judge(state, part(27), trusted)).toBeUndefined()
    expect(judge({}, part(27), trusted)).toBeUndefined()
    expect(judge({ ...state, handler: word(handler) }, part(27), trusted)).toMatch(/not known/)
  })
})
