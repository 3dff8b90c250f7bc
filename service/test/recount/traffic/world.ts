import type { DeriveConfig, DeriveVault } from '../../../src/derive/config.js'
import { type Digits, wordOf } from '../bytes.js'
import { firstTopics } from '../told.js'
import type { Random } from './random.js'
import { type Call, newCall, type Said } from './tree.js'
import { callData, type Version } from './write.js'
import { signers } from './writeSuffix.js'

const who = (digits: string): string => `0x${digits.repeat(40 / digits.length)}`
export const zero = who('0')
export const chainId = 31_337
export const entryPoints: Record<Version, string> = {
  '0.6': '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
  '0.7': '0x0000000071727de22e5e9d8baf0edac6f37da032',
  '0.8': '0x4337084d9e255ff0702461cf8895ce9e3b5ff108',
}
export const people = ['a1', 'a2', 'a3', 'a4'].map(who)
/** Wallets without code of their own that delegate (EIP-7702). */
export const delegating = ['d1', 'd2'].map(who)
export const safes = ['5a', '5b'].map(who)
export const accounts = ['ac', 'ad', 'ae'].map(who)
export const routers = ['91', '92'].map(who)
export const forgers = ['f6', 'f7'].map(who)
export const relayer = who('7e')
/** It keeps nothing: whether a bundle's tail counts for shares its bundler keeps can be read in two ways. */
export const bundler = who('bb')
export const pool = who('b0')
export const multisender = who('e5')
export const implementation = who('1c')
const escrow = who('e0')
/** Every address with code that may hold shares. */
export const contracts = [...safes, ...accounts, ...routers, ...forgers, pool, multisender, implementation]

const vaultOf = (id: number, digits: string, more: Partial<DeriveVault> = {}): DeriveVault => ({
  id,
  address: who(digits),
  kind: 'erc4626',
  receiptToken: who(digits),
  asset: who('55'),
  assetDecimals: 6,
  escrow: null,
  startBlock: 0,
  activeFrom: 0,
  ...more,
})
export const vaults: readonly DeriveVault[] = [
  vaultOf(1, 'c1'),
  vaultOf(2, 'c2'),
  vaultOf(3, 'c3', { kind: 'erc7540', escrow }),
  vaultOf(4, 'c4', { kind: 'erc7540', escrow }),
  vaultOf(5, 'c5', { activeFrom: 1_004 }),
  vaultOf(6, 'c6', { receiptToken: who('6c') }),
]
export const [first, second, ownIds, aggregate, late, apart] = vaults as [
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
]
export const synchronous = [first, second, late, apart]

export const config: DeriveConfig = {
  chainId,
  vaults,
  distributors: new Map([
    ['alpha', 0],
    ['beta', 0],
    ['Y2Zi7KWy', 0],
    ['strict', 0],
    ['turns', 0],
    ['later', 1_003],
  ]),
  signedOnly: new Map([
    ['strict', [{ from: 0, signedOnly: true }]],
    [
      'turns',
      [
        { from: 1_003, signedOnly: true },
        { from: 1_006, signedOnly: false },
      ],
    ],
  ]),
  signers: new Set(signers),
  entryPoints: Object.values(entryPoints),
}

export type Waiting = {
  vault: DeriveVault
  kind: 'deposit' | 'redeem'
  controller: string
  id: bigint
  left: bigint
  cancelling: boolean
}
/** What the contracts of this world hold. */
export type World = {
  random: Random
  balances: Map<string, bigint>
  waiting: Waiting[]
  nextId: bigint
  nextNonce: bigint
  /** Suffixes written so far, and signed calls that may be sent again. */
  suffixes: Digits[]
  plans: { wallet: string; vault: DeriveVault; assets: bigint; data: Digits }[]
}
export const openWorld = (random: Random): World => ({
  random,
  balances: new Map(),
  waiting: [],
  nextId: 1n,
  nextNonce: 1n,
  suffixes: [],
  plans: [],
})

const keyOf = (vault: DeriveVault, wallet: string) => `${vault.id}:${wallet}`
export const balanceOf = (world: World, vault: DeriveVault, wallet: string): bigint =>
  world.balances.get(keyOf(vault, wallet)) ?? 0n

export const say = (
  address: string,
  topic: string,
  indexed: readonly (string | bigint)[],
  data: readonly (string | bigint)[],
): Said => ({
  address,
  topics: [topic, ...indexed.map((each) => `0x${wordOf(each)}`)],
  data: `0x${data.map(wordOf).join('')}`,
})

/** A vault's own Transfer: in the call itself, or in one to its share token. */
export function move(world: World, vault: DeriveVault, call: Call, from: string, to: string, value: bigint): void {
  const said = say(vault.receiptToken, firstTopics.transfer, [from, to], [value])
  if (from !== zero) world.balances.set(keyOf(vault, from), balanceOf(world, vault, from) - value)
  if (to !== zero) world.balances.set(keyOf(vault, to), balanceOf(world, vault, to) + value)
  if (call.target === vault.receiptToken) call.did.push(said)
  else {
    const inner = newCall(vault.address, vault.receiptToken, callData('transfer', to, value))
    inner.did.push(said)
    call.did.push(inner)
  }
}

export const sharesFor = (vault: DeriveVault, assets: bigint): bigint =>
  vault.id === second.id ? (assets * 2n) / 3n : assets

/** A deposit as the vault runs it: some tell of the mint before the event, some after it. */
export function runDeposit(world: World, vault: DeriveVault, call: Call, receiver: string, assets: bigint): void {
  const shares = sharesFor(vault, assets)
  const tell = () => call.did.push(say(vault.address, firstTopics.deposit, [call.caller, receiver], [assets, shares]))
  if (vault.id === second.id) tell()
  move(world, vault, call, zero, receiver, shares)
  if (vault.id !== second.id) tell()
}

export function runRedeem(
  world: World,
  vault: DeriveVault,
  call: Call,
  owner: string,
  receiver: string,
  shares: bigint,
): boolean {
  if (balanceOf(world, vault, owner) < shares) return false
  const tell = () =>
    call.did.push(say(vault.address, firstTopics.withdraw, [call.caller, receiver, owner], [shares * 2n, shares]))
  if (vault.id === second.id) tell()
  move(world, vault, call, owner, zero, shares)
  if (vault.id !== second.id) tell()
  return true
}

/** A transfer of shares by a call to the token. */
export function runTransfer(
  world: World,
  vault: DeriveVault,
  call: Call,
  from: string,
  to: string,
  value: bigint,
): boolean {
  if (balanceOf(world, vault, from) < value) return false
  move(world, vault, call, from, to, value)
  return true
}
