import type { DeriveConfig, DeriveVault } from '../../../src/derive/config.js'
import { type Digits, wordOf } from '../bytes.js'
import { firstTopics } from '../told.js'
import type { Random } from './random.js'
import { type Call, newCall, type Said } from './tree.js'
import { callData, stakeRedeem, type Version, yieldDeposit, yieldRedeem } from './write.js'
import { signers } from './writeSuffix.js'

export const who = (digits: string): string => `0x${digits.repeat(40 / digits.length)}`
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
export const depositRouter = who('97')
export const forgers = ['f6', 'f7'].map(who)
export const relayer = who('7e')
/** Now and then accounts and who validates deposit for it. */
export const bundler = who('bb')
export const pool = who('b0')
export const multisender = who('e5')
export const implementation = who('1c')
const escrow = who('e0')
/** Where a cooldown vault holds what waits, and what a paymaster and a factory's contract are. */
export const cooling = who('e1')
export const paymaster = who('9a')
export const created = who('c9')
/** Euler's connector, one that is declared later, and one that nobody declares. */
export const connectors = ['ec', 'ed', 'ee'].map(who)
/** The account of a wallet with the number 2 at Euler. */
export const subAccountOf = (wallet: string): string => `${wallet.slice(0, 40)}02`
/** A solver's key, the settlement contract of our order book and one of another's, and a contract that pays out once. */
export const solver = who('50')
/** Contracts that others tell of calls they got. */
export const modules = ['3d', '3e'].map(who)
export const settlement = who('90')
export const otherSettlement = who('9e')
export const payout = who('9b')
/** Every address with code that may hold shares. */
export const contracts = [
  settlement,
  otherSettlement,
  payout,
  ...safes,
  ...accounts,
  ...routers,
  depositRouter,
  ...forgers,
  pool,
  multisender,
  implementation,
  cooling,
  paymaster,
  created,
  who('cc'),
]

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
  vaultOf(7, 'c7', { kind: 'lagoon', escrow }),
  // It settles in shares and tells assets rounded down.
  vaultOf(8, 'c8', { kind: 'erc7540', escrow, receiptToken: who('8c') }),
  vaultOf(9, 'ca', { kind: 'erc7540-deposit', escrow }),
  vaultOf(10, 'cb', { kind: 'erc7540-redeem', escrow }),
  vaultOf(11, 'cd', { kind: 'cooldown' }),
  // A wrapper: it puts what it takes into the first vault.
  vaultOf(12, 'cc'),
  vaultOf(13, 'ce', { kind: 'window-stake' }),
  vaultOf(14, 'cf', { kind: 'erc5115' }),
  vaultOf(15, 'da', { kind: 'umbrella' }),
  vaultOf(16, 'db', { kind: 'maple', contracts: { queue: who('dc'), manager: who('dd') } }),
  vaultOf(17, 'de', {
    ...{ kind: 'veda', escrow: who('eb') },
    contracts: { teller: who('df'), accountant: who('ea'), queue: who('eb') },
  }),
]
export const [
  first,
  second,
  ownIds,
  aggregate,
  late,
  apart,
  lagoon,
  rounding,
  slowIn,
  slowOut,
  cooled,
  wrapper,
  staked,
  yielding,
  covering,
  queued,
  locking,
] = vaults as unknown as Seventeen
type Seventeen = [
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
  DeriveVault,
]
const synchronous = [first, second, late, apart, first, second, slowOut, cooled, wrapper, staked, yielding, covering]

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
  forwarders: [
    { address: connectors[0]!, from: 0 },
    { address: connectors[1]!, from: 1_004 },
  ],
  settlements: [settlement],
}

export type Waiting = {
  vault: DeriveVault
  kind: 'deposit' | 'redeem'
  controller: string
  id: bigint
  left: bigint
  cancelling: boolean
  /** Of a queue: what is processed waits for its owner's call. */
  byHand?: boolean
  /** Of an order: what it is paid with, and from when until when. */
  order?: { token: string; promised: bigint; from: number; until: number }
}
/** A deposit at a teller, for as long as it may be given back. */
export type Sold = {
  nonce: bigint
  receiver: string
  token: string
  assets: bigint
  shares: bigint
  at: number
  lock: number
}
const slow = [ownIds, aggregate, ownIds, aggregate, lagoon, rounding, slowIn, slowOut, queued, queued, queued]

/** What the contracts of this world hold. */
export type World = {
  random: Random
  /** Which calls are repeated: on its own, so that the rest of the traffic does not depend on it. */
  repeats: Random
  /** Who uses a teller and its queue: on its own as well. */
  orders: Random
  /** Whether they do little else. */
  isSelling: boolean
  /** The time of the block that is written. */
  time: number
  sold: Sold[]
  /** Until when shares of a wallet at a teller may not move. */
  locks: Map<string, number>
  /** Vaults that its people use: a few, so that what was bought is sold; now and then any. */
  synchronous: readonly DeriveVault[]
  slow: readonly DeriveVault[]
  balances: Map<string, bigint>
  waiting: Waiting[]
  /** Shares of a wallet that a queue has processed and not redeemed. */
  byHand: Map<string, bigint>
  nextId: bigint
  nextNonce: bigint
  /** Suffixes written so far, and signed calls that may be sent again. */
  suffixes: Digits[]
  /** Owners that connectors have registered. */
  registered: Set<string>
  /** Settlements that were sent. */
  settlements: { sender: string; target: string; data: Digits }[]
  plans: { wallet: string; vault: DeriveVault; assets: bigint; data: Digits }[]
}
const chooseFew = <T>(random: Random, list: readonly T[], count: number): readonly T[] =>
  random.chance(0.2) ? list : Array.from({ length: count }, () => random.pick(list))

export const openWorld = (random: Random, repeats: Random, orders: Random, isSelling = orders.chance(0.2)): World => ({
  random,
  repeats,
  orders,
  isSelling,
  time: 0,
  sold: [],
  locks: new Map(),
  synchronous: chooseFew(random, synchronous, 3),
  slow: isSelling ? [locking] : [...chooseFew(random, slow, 2), ...(orders.chance(0.3) ? [locking, locking] : [])],
  balances: new Map(),
  waiting: [],
  byHand: new Map(),
  nextId: 1n,
  nextNonce: 1n,
  suffixes: [],
  registered: new Set(),
  settlements: [],
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

/** ERC-5115 takes and pays one more token, here of every fifth amount. */
const tokenOf = (vault: DeriveVault, amount: bigint): string => (amount % 5n === 0n ? who('56') : vault.asset)

/** How a vault is asked to take assets for a receiver. */
export function depositData(vault: DeriveVault, assets: bigint, receiver: string): Digits {
  if (vault === staked) return callData('stake', receiver, assets)
  if (vault === yielding) return yieldDeposit(receiver, tokenOf(vault, assets), assets)
  return callData('deposit', assets, receiver)
}

/** How a vault is asked to redeem shares; a stake and ERC-5115 take those of the caller. */
export function redeemData(vault: DeriveVault, shares: bigint, receiver: string, owner: string): Digits {
  if (vault === staked) return stakeRedeem(receiver, shares)
  if (vault === yielding) return yieldRedeem(receiver, shares, tokenOf(vault, shares))
  return callData('redeem', shares, receiver, owner)
}

/** What a vault says of a deposit. */
export function sayDeposit(vault: DeriveVault, sender: string, receiver: string, assets: bigint, shares: bigint): Said {
  if (vault === staked) return say(vault.address, firstTopics.staked, [sender, receiver], [assets, shares])
  if (vault !== yielding) return say(vault.address, topicsOf(vault).deposit, [sender, receiver], [assets, shares])
  return say(vault.address, firstTopics.yieldDeposit, [sender, receiver, tokenOf(vault, assets)], [assets, shares])
}

/** What a vault says of a withdrawal. */
function sayRedeem(vault: DeriveVault, sender: string, receiver: string, owner: string, shares: bigint): Said {
  const assets = shares * 2n
  if (vault === staked) return say(vault.address, firstTopics.stakeRedeemed, [owner, receiver], [assets, shares])
  if (vault === yielding)
    return say(vault.address, firstTopics.yieldRedeem, [owner, receiver, tokenOf(vault, shares)], [shares, assets])
  return say(vault.address, topicsOf(vault).withdraw, [sender, receiver, owner], [assets, shares])
}

/** What a vault calls the two events of a synchronous deposit and withdrawal. */
const topicsOf = (vault: DeriveVault) =>
  vault.id === lagoon.id
    ? { deposit: firstTopics.depositSync, withdraw: firstTopics.withdrawSync }
    : { deposit: firstTopics.deposit, withdraw: firstTopics.withdraw }

/**
 * A deposit as the vault runs it: some tell of the mint before the event, some after it. `sender`: whom the vault takes
 * for the caller.
 */
export function runDeposit(
  world: World,
  vault: DeriveVault,
  call: Call,
  receiver: string,
  assets: bigint,
  sender = call.caller,
): void {
  const shares = sharesFor(vault, assets)
  const tell = () => call.did.push(sayDeposit(vault, sender, receiver, assets, shares))
  if (vault.id === wrapper.id) {
    const inner = newCall(vault.address, first.address, callData('deposit', assets, vault.address))
    call.did.push(inner)
    runDeposit(world, first, inner, vault.address, assets)
  }
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
  sender = call.caller,
): boolean {
  if (balanceOf(world, vault, owner) < shares) return false
  const tell = () => call.did.push(sayRedeem(vault, sender, receiver, owner, shares))
  if (vault.id === second.id) tell()
  move(world, vault, call, owner, zero, shares)
  if (vault.id === wrapper.id) {
    const inner = newCall(vault.address, first.address, callData('redeem', shares, receiver, vault.address))
    call.did.push(inner)
    runRedeem(world, first, inner, vault.address, receiver, shares)
  }
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
